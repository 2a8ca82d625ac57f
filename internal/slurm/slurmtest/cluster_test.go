//go:build linux

package slurmtest

import (
	"strings"
	"testing"
)

// The cluster takes a job, and is gone afterwards.
func TestCluster(t *testing.T) {
	var c *Cluster
	t.Run("", func(t *testing.T) {
		c = Start(t, 2, 8)
		out, err := c.Command("srun", "--nodes=2", "--ntasks=2", "printenv", "SLURMD_NODENAME").CombinedOutput()
		if err != nil || !strings.Contains(string(out), "n1\n") || !strings.Contains(string(out), "n2\n") {
			t.Errorf("%s, %v\n%s", out, err, c.Logs())
		}
	})
	if c != nil && len(c.processes()) > 0 {
		t.Errorf("left %v", c.processes())
	}
}
