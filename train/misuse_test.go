package train_test

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"utvi/likelihood"
	"utvi/moment"
	"utvi/optim"
	"utvi/train"
)

// What cannot work is said before the first step.
func TestMisuse(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("garbage"), 0o666); err != nil {
		t.Fatal(err)
	}
	for says, change := range map[string]func(c *train.Config){
		"no learning rate":                    func(c *train.Config) { c.Optimizer = optim.AdamW{Clip: 1} },
		"start from optim.Paper()":            func(c *train.Config) { c.Optimizer = optim.AdamW{Rate: optim.Constant(1)} },
		"the learning rate of step 1 is NaN":  func(c *train.Config) { c.Optimizer.Rate = optim.Constant(math.NaN()) },
		"the learning rate of step 1 is +Inf": func(c *train.Config) { c.Optimizer.Rate = optim.Constant(math.Inf(1)) },
		"the learning rate of step 1 is -1":   func(c *train.Config) { c.Optimizer.Rate = optim.Constant(-1) },
		"does not exist":                      func(c *train.Config) { c.Checkpoint = filepath.Join(dir, "none", "x") },
		"not a directory":                     func(c *train.Config) { c.Checkpoint = filepath.Join(file, "x") },
		"to start again":                      func(c *train.Config) { c.Checkpoint = file },
	} {
		c := config()
		change(&c)
		if _, err := train.New(network(moment.UT(2)), c); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("error %v, want one with %q", err, says)
		}
	}
	if _, err := train.New(nil, config()); err == nil {
		t.Error("no network was taken for one")
	}
}

// A finished training cannot become a shorter one.
func TestFewerSteps(t *testing.T) {
	c := config()
	c.Steps, c.Checkpoint = 2, filepath.Join(t.TempDir(), "x")
	tr, err := train.New(network(moment.UT(2)), c)
	if err != nil {
		t.Fatal(err)
	}
	if err := tr.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.Steps = 1
	if _, err := train.New(network(moment.UT(2)), c); err == nil || !strings.Contains(err.Error(), "from step 2, beyond the 1 steps of this training") {
		t.Errorf("error %v", err)
	}
	c.Steps = 2
	if _, err := train.New(network(moment.UT(2)), c); err != nil {
		t.Errorf("the same again: %v", err)
	}
}

// The tensors of a network do not tell its functions, nor what it is scored with.
func TestCheckpointOfOtherFunctions(t *testing.T) {
	c := config()
	c.Steps, c.Checkpoint = 2, filepath.Join(t.TempDir(), "x")
	run(t, network(moment.UT(2)), c)
	if _, err := train.New(network(moment.GaussHermite(5)), c); err == nil || !strings.Contains(err.Error(), "another network") {
		t.Errorf("another rule: %v", err)
	}
	c.Likelihood = likelihood.ExpectedNormal{Std: 1}
	if _, err := train.New(network(moment.UT(2)), c); err == nil || !strings.Contains(err.Error(), "likelihood normal; this run") {
		t.Errorf("another likelihood: %v", err)
	}
}

// A schedule that breaks half way leaves the last good checkpoint.
func TestBrokenSchedule(t *testing.T) {
	c := config()
	c.Checkpoint, c.CheckpointEvery = filepath.Join(t.TempDir(), "x"), 1
	good := c
	c.Optimizer.Rate = func(step int) float64 { return 1e-3 / float64(max(0, 3-step)) } // infinite at step 3
	tr, err := train.New(network(moment.UT(2)), c)
	if err != nil {
		t.Fatal(err)
	}
	if err := tr.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "step 3") {
		t.Fatalf("error %v", err)
	}
	m := network(moment.UT(2))
	tr, err = train.New(m, good)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Params.CheckFinite(); err != nil || tr.Step() != 2 {
		t.Errorf("the checkpoint is of step %d, %v", tr.Step(), err)
	}
}
