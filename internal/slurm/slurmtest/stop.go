//go:build linux

package slurmtest

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// KillNode kills a node's daemon with signal 9, and all that it started.
func (c *Cluster) KillNode(node string) {
	for _, d := range c.daemons {
		if d.name == node {
			d.cmd.Process.Kill()
			<-d.gone
		}
	}
	for _, p := range c.processes() {
		if p.has(nodeMark+"="+node) || p.has("SLURMD_NODENAME="+node) {
			syscall.Kill(p.pid, syscall.SIGKILL)
		}
	}
}

// stop ends, by its id, every process that the cluster has started, and removes
// its files.
func (c *Cluster) stop() {
	c.Command("scancel", "--state=PENDING").Run()
	c.Command("scancel", "--state=RUNNING").Run()
	for deadline := time.Now().Add(8 * time.Second); len(c.jobProcesses()) > 0 && time.Now().Before(deadline); {
		time.Sleep(50 * time.Millisecond)
	}
	for _, d := range slices.Backward(c.daemons) {
		d.cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-d.gone:
		case <-time.After(5 * time.Second):
			d.cmd.Process.Kill()
			<-d.gone
		}
	}
	for deadline := time.Now().Add(time.Minute); len(c.processes()) > 0 && time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		for _, p := range c.processes() {
			syscall.Kill(p.pid, syscall.SIGKILL)
		}
	}
	for _, p := range c.processes() {
		c.t.Errorf("process %d is left: %s", p.pid, p.command)
	}
	if err := os.RemoveAll(c.dir); err != nil {
		c.t.Error(err)
	}
}

// A process is one that the cluster has started: its environment names the
// cluster's configuration.
type process struct {
	pid     int
	command string
	env     []string
}

func (p process) has(variable string) bool { return slices.Contains(p.env, variable) }

// processes are those of the cluster, but for this one and zombies.
func (c *Cluster) processes() (all []process) {
	envs, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range envs {
		env, err := os.ReadFile(path)
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil || pid == os.Getpid() || !bytes.Contains(env, []byte("SLURM_CONF="+c.in("slurm.conf")+"\x00")) {
			continue
		}
		command, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
		all = append(all, process{pid, strings.ReplaceAll(strings.Trim(string(command), "\x00"), "\x00", " "), strings.Split(string(env), "\x00")})
	}
	return all
}

// jobProcesses are those of jobs.
func (c *Cluster) jobProcesses() []process {
	return slices.DeleteFunc(c.processes(), func(p process) bool {
		return !slices.ContainsFunc(p.env, func(v string) bool { return strings.HasPrefix(v, "SLURM_JOB_ID=") })
	})
}

// Idle reports whether nothing of any job is left: neither its processes nor the daemon that
// writes to its log last.
func (c *Cluster) Idle() bool {
	return len(c.jobProcesses()) == 0 && !slices.ContainsFunc(c.processes(), func(p process) bool { return strings.HasPrefix(p.command, "slurmstepd") })
}

// TrialProcess is a process of a job that was started with these words, on the
// node or on any; 0 if there is none.
func (c *Cluster) TrialProcess(words, node string) int {
	for _, p := range c.jobProcesses() {
		if strings.Contains(p.command, words) && !strings.HasPrefix(p.command, "/bin/bash") && (node == "" || p.has("SLURMD_NODENAME="+node)) {
			return p.pid
		}
	}
	return 0
}
