// Package slurmtest runs a real Slurm on this machine's loopback, for tests:
// munged, slurmctld and a few slurmd as ordinary processes, without systemd,
// cgroups or an administrator.
package slurmtest
