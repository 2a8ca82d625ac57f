package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"utvi/internal/slurm/slurmtest"
	"utvi/internal/sweep"
)

const slurmSpec = `kind: fc
base: {seed: 1, steps: 1200}
grid: {rule: [ut(2), mc(3)]}
replicates: 6
`

// Twelve trials on a real Slurm of two nodes, one trial killed during its training and
// one node with its job: all results arrive, as they are from a local run.
func TestSlurm(t *testing.T) {
	if testing.Short() {
		t.Skip("Slurm is not tried in short tests")
	}
	c := slurmtest.Start(t, 2, 8)
	// No name of a folder may break a script.
	dir := filepath.Join(t.TempDir(), `it's "one" $HOME é`)
	plan, p := writePlan(t, dir, slurmSpec)
	out := command(t, c.Command(binary, "sweep", "submit", plan, "--engine", "slurm"))
	if !strings.HasPrefix(out, "Submitted 12 of 12 trials as array jobs ") {
		t.Fatal(out) // 8 and 4: numbers of arrays are below 8 here
	}
	ids := strings.Fields(strings.Split(strings.SplitAfter(out, "array jobs ")[1], ";")[0])
	trials := filepath.Join(dir, "plan.trials")

	killed := await(t, c, "checkpoint on n1", func() string {
		name, pid := training(t, c, trials, p, "n1")
		if name == "" || syscall.Kill(pid, syscall.SIGKILL) != nil {
			return ""
		}
		return name
	})
	lost := await(t, c, "checkpoint on n2", func() string {
		name, _ := training(t, c, trials, p, "n2")
		return name
	})
	c.KillNode("n2")
	t.Logf("killed %s, and n2 with %s", killed, lost)

	summary := filepath.Join(dir, "plan.summary", "summary.json")
	await(t, c, "summary", func() string {
		if _, err := os.Stat(summary); err != nil && queued(t, c) {
			return ""
		}
		return "it"
	})
	if out := command(t, exec.Command(binary, "sweep", "status", plan)); !strings.HasPrefix(out, "All 12 trials are done.\n") {
		t.Errorf("%s", out)
	}
	again := 0
	for _, id := range ids {
		again += strings.Count(command(t, c.Command("scontrol", "show", "job", id)), "Restarts=1")
	}
	if again != 2 {
		t.Errorf("%d elements were queued again, not 2", again)
	}
	if logs := readAll(t, filepath.Join(trials, "log")); strings.Count(logs, "exit status 137: element ") != 1 {
		t.Errorf("one trial was killed, but the logs say\n%s", logs)
	}
	local := filepath.Join(t.TempDir(), "local")
	command(t, exec.Command(binary, "sweep", "run", plan, "--out", local))
	sameResults(t, p, trials, local)
	command(t, exec.Command(binary, "sweep", "collect", plan, "--out", local, "--to", local))
	for _, name := range []string{"summary.csv", "trials.csv", "best_nll.svg"} {
		if a, b := readFile(t, filepath.Join(local, name)), readFile(t, filepath.Join(filepath.Dir(summary), name)); !bytes.Equal(a, b) {
			t.Errorf("%s differs", name)
		}
	}
	if out := command(t, c.Command(binary, "sweep", "submit", plan, "--engine", "slurm")); !strings.HasPrefix(out, "Nothing to submit") {
		t.Error(out)
	}
	t.Run("cancel", func(t *testing.T) { cancelled(t, c) })
}

// A trial that its user cancels keeps a checkpoint and is not queued again.
func cancelled(t *testing.T, c *slurmtest.Cluster) {
	dir := t.TempDir()
	plan, p := writePlan(t, dir, "kind: fc\nbase: {seed: 1, steps: 1000000, rule: ut(2)}\n")
	out := command(t, c.Command(binary, "sweep", "submit", plan, "--engine", "slurm", "--max-parallel", "1"))
	id := strings.TrimSuffix(strings.Fields(strings.SplitAfter(out, "array job ")[1])[0], ";")
	trials := filepath.Join(dir, "plan.trials")
	await(t, c, "checkpoint", func() string {
		name, _ := training(t, c, trials, p, "n1")
		return name
	})
	command(t, c.Command("scancel", id))
	await(t, c, "end", func() string {
		if c.TrialProcess("sweep trial", "") == 0 {
			return "ended"
		}
		return ""
	})
	state := await(t, c, "final state", func() string {
		job := command(t, c.Command("scontrol", "show", "job", id+"_0"))
		if strings.Contains(job, "JobState=RUNNING") || strings.Contains(job, "JobState=COMPLETING") {
			return ""
		}
		return job
	})
	if !strings.Contains(state, "JobState=CANCELLED") || !strings.Contains(state, "Restarts=0") {
		t.Errorf("after scancel:\n%s", state)
	}
	if out := command(t, exec.Command(binary, "sweep", "status", plan)); !strings.Contains(out, "1 of them started") {
		t.Error(out)
	}
	// What is left of the job would write to the folder while it is removed.
	await(t, c, "end of all processes", func() string {
		if c.Idle() {
			return "nothing"
		}
		return ""
	})
}

// training is the trial that runs on a node and has a checkpoint, "" while there
// is none, and its process.
func training(t *testing.T, c *slurmtest.Cluster, dir string, p *sweep.Plan, node string) (name string, pid int) {
	t.Helper()
	pid = c.TrialProcess("sweep trial", node)
	if pid == 0 {
		if !queued(t, c) {
			t.Fatalf("nothing is left to run on %s\n%s", node, c.Logs())
		}
		return "", 0
	}
	host, _ := os.Hostname()
	for _, s := range sweep.Status(dir, p) {
		if s.State == sweep.Running && s.Begun && s.Why == fmt.Sprintf("%s, process %d", host, pid) {
			return s.Trial.Name, pid
		}
	}
	return "", 0
}

// queued reports whether the cluster has jobs that have not ended.
func queued(t *testing.T, c *slurmtest.Cluster) bool {
	t.Helper()
	return command(t, c.Command("squeue", "--noheader")) != ""
}

// patience is for machines that do much else.
const patience = 8 * time.Minute

func await(t *testing.T, c *slurmtest.Cluster, what string, done func() string) string {
	t.Helper()
	for start := time.Now(); ; time.Sleep(30 * time.Millisecond) {
		if x := done(); x != "" {
			return x
		}
		if time.Since(start) > patience {
			queue, _ := c.Command("squeue").CombinedOutput()
			t.Fatalf("no %s after %v\n%s\n%s", what, patience, queue, c.Logs())
		}
	}
}

func readAll(t *testing.T, dir string) string {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, f := range files {
		b.Write(readFile(t, filepath.Join(dir, f.Name())))
	}
	return b.String()
}
