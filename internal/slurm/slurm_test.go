package slurm

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func some(n int) (all []int) {
	for i := range n {
		all = append(all, i)
	}
	return all
}

func arrays(t *testing.T, c Config) (got []string) {
	t.Helper()
	scripts, err := c.Scripts()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range scripts {
		array, offset := "", ""
		for line := range strings.Lines(s.Text) {
			if _, rest, ok := strings.Cut(line, "#SBATCH --array="); ok {
				array = strings.TrimSpace(rest)
			}
			if _, rest, ok := strings.Cut(line, "--offset "); ok {
				offset = strings.Fields(rest)[0]
			}
		}
		got = append(got, array+"+"+offset)
	}
	return got
}

// Arrays are cut at the cluster's size, and only what is asked for is run.
func TestChunks(t *testing.T) {
	for _, c := range []struct {
		indices   []int
		size, par int
		want      []string
	}{
		{some(12), 1001, 4, []string{"0-11%4+0"}},
		{some(12), 5, 0, []string{"0-4+0", "0-4+5", "0,1+10"}},
		{[]int{0, 3, 4, 9, 11}, 4, 2, []string{"0,3%2+0", "0%2+4", "1,3%2+8"}},
		{[]int{2500}, 1001, 0, []string{"498+2002"}},
	} {
		got := arrays(t, Config{Trial: []string{"x"}, Indices: c.indices, MaxArraySize: c.size, MaxParallel: c.par})
		if !slices.Equal(got, c.want) {
			t.Errorf("%v in arrays of %d: %v, want %v", c.indices, c.size, got, c.want)
		}
	}
}

// The collecting job waits for all arrays; a limit of parallel trials chains them.
func TestOrder(t *testing.T) {
	c := Config{Trial: []string{"x"}, Collect: []string{"y"}, Indices: some(12), MaxArraySize: 5}
	for par, want := range map[int][][]int{0: {nil, nil, nil, {0, 1, 2}}, 3: {nil, {0}, {1}, {0, 1, 2}}} {
		c.MaxParallel = par
		scripts, err := c.Scripts()
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range scripts {
			if !slices.Equal(s.After, want[i]) {
				t.Errorf("with %d at a time, script %d comes after %v, not %v", par, i, s.After, want[i])
			}
		}
	}
}

func TestRefuses(t *testing.T) {
	good := Config{Trial: []string{"x"}, Indices: some(1), MaxArraySize: 5}
	for want, spoil := range map[string]func(*Config){
		"no trials to submit":     func(c *Config) { c.Indices = nil },
		"takes no arrays":         func(c *Config) { c.MaxArraySize = 0 },
		`--partition is "a b"`:    func(c *Config) { c.Partition = "a b" },
		`--time is "1\n`:          func(c *Config) { c.Time = "1\n#SBATCH --uid=0" },
		`"-p x" is not an option`: func(c *Config) { c.Options = []string{"-p x"} },
	} {
		c := good
		spoil(&c)
		if _, err := c.Scripts(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q in %v", want, err)
		}
	}
}

// Whatever the words are, the shell reads the same.
func TestQuote(t *testing.T) {
	words := []string{"plain", "", "it's", `"$HOME" \ $(rm -rf x) ; & | > < * ? [a] {b} ~ # !`, "two\nlines", "-n", "é"}
	out, err := exec.Command("bash", "-c", `printf '%s\0' `+Quote(words...)).Output()
	if err != nil {
		t.Skip(err)
	}
	if got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"); !slices.Equal(got, words) {
		t.Errorf("%q is read as %q", words, got)
	}
}

// An element runs outside Slurm, with a scontrol that writes down what it is asked.
func TestElement(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip(err)
	}
	for _, c := range []struct {
		name, trial, restarts, state string
		code                         int
		requeued                     bool
	}{
		{"ends well", "exit 0", "0", "RUNNING", 0, false},
		{"fails", "exit 1", "0", "RUNNING", 1, false},
		{"is killed", "kill -9 $$", "0", "RUNNING", 137, true},
		{"was interrupted", "exit 75", "2", "RUNNING", 75, true},
		{"too often", "exit 75", "3", "RUNNING", 75, false},
		{"cancelled", "exit 75", "0", "CANCELLED", 75, false},
		{"is told to end", "trap 'exit 75' TERM; sleep 0.3; kill -TERM $PPID; while :; do sleep 0.01; done", "", "RUNNING", 75, true},
		{"is told at once", "trap 'exit 75' TERM; kill -TERM $PPID; while :; do sleep 0.01; done", "", "RUNNING", 75, true},
		{"does not listen yet", "kill -TERM $PPID; while :; do sleep 0.01; done", "", "RUNNING", 143, true},
	} {
		dir := t.TempDir()
		fake := "#!/bin/sh\nif [ $1 = requeue ]; then echo $2 >'" + dir + "/requeued'; exit 1; fi\necho \"   JobState=" + c.state + " Reason=None\"\n"
		if err := os.WriteFile(filepath.Join(dir, "scontrol"), []byte(fake), 0o777); err != nil {
			t.Fatal(err)
		}
		// The trial's --offset is the shell's $0, so it is harmless.
		scripts, err := Config{Trial: []string{bash, "-c", c.trial}, Indices: some(1), MaxArraySize: 5, Restarts: 3}.Scripts()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(bash, "-c", scripts[0].Text)
		cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "SLURM_ARRAY_JOB_ID=7", "SLURM_ARRAY_TASK_ID=0", "SLURM_RESTART_COUNT="+c.restarts)
		out, _ := cmd.CombinedOutput()
		asked, _ := os.ReadFile(filepath.Join(dir, "requeued"))
		if code := cmd.ProcessState.ExitCode(); code != c.code || (string(asked) == "7_0\n") != c.requeued {
			t.Errorf("a trial that %s: exit %d, want %d; requeued %q; %s", c.name, code, c.code, asked, out)
		}
	}
}
