package train_test

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"utvi/model"
	"utvi/moment"
	"utvi/nn"
	"utvi/train"
)

// A run that is cut off and continued, several times, has the bits of one that
// was not.
func TestResume(t *testing.T) {
	whole := network(moment.MonteCarlo(3))
	want := run(t, whole, config())

	c := config()
	c.Checkpoint = filepath.Join(t.TempDir(), "run.ckpt")
	c.CheckpointEvery = 4
	var m *model.Model
	for _, stop := range []int{3, 9, 10, 27, 100} {
		m = network(moment.MonteCarlo(3)) // as a new process would
		tr, err := train.New(m, c)
		if err != nil {
			t.Fatal(err)
		}
		for s, err := range tr.Steps(context.Background()) {
			if err != nil {
				t.Fatal(err)
			}
			if s != want[s.Step-1] {
				t.Fatalf("step %d: %+v, want %+v", s.Step, s, want[s.Step-1])
			}
			if s.Step >= stop {
				break // no save: as if killed
			}
		}
		tr.Close()
	}
	if !same(m.Params.Theta, whole.Params.Theta) {
		t.Error("the continued run has other bits")
	}
	// A process that finds nothing left to do knows as much of the training.
	m = network(moment.MonteCarlo(3))
	tr, err := train.New(m, c)
	if err != nil {
		t.Fatal(err)
	}
	tr.Close()
	if !reflect.DeepEqual(m.Facts, whole.Facts) {
		t.Errorf("the finished run is known as %+v, want %+v", m.Facts, whole.Facts)
	}
}

func TestCancel(t *testing.T) {
	c := config()
	c.Checkpoint = filepath.Join(t.TempDir(), "run.ckpt")
	m := network(moment.UT(2))
	tr, err := train.New(m, c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var last error
	for s, err := range tr.Steps(ctx) {
		last = err
		if err == nil && s.Step == 7 {
			cancel()
		}
	}
	if !errors.Is(last, context.Canceled) {
		t.Fatalf("the loop ended with %v", last)
	}
	again, err := train.New(network(moment.UT(2)), c)
	if err != nil {
		t.Fatal(err)
	}
	if again.Step() != 7 {
		t.Errorf("continued at step %d, want 7", again.Step())
	}
}

// A run that is stopped before its first step continues from there.
func TestCancelAtOnce(t *testing.T) {
	c := config()
	c.Checkpoint = filepath.Join(t.TempDir(), "run.ckpt")
	tr, err := train.New(network(moment.UT(2)), c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := tr.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Fatalf("the run ended with %v", err)
	}
	if _, err := train.New(network(moment.UT(2)), c); err != nil {
		t.Error(err)
	}
}

// A number that is not finite stops with layer and step, and the checkpoint
// stays good.
func TestNotFinite(t *testing.T) {
	explode := &moment.Func{Name: "bomb", F: func(x float64) float64 {
		if armed && x > 0.2 {
			return math.Inf(1)
		}
		return x
	}}
	armed = false
	m, err := model.New(model.Config{Input: nn.Vec(2), Layers: nn.Chain{nn.Dense{Out: 9}, nn.Apply{F: explode}, nn.Dense{Out: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	c := config()
	c.Checkpoint = filepath.Join(t.TempDir(), "run.ckpt")
	c.CheckpointEvery = 5
	tr, err := train.New(m, c)
	if err != nil {
		t.Fatal(err)
	}
	var last error
	for s, err := range tr.Steps(context.Background()) {
		last = err
		armed = s.Step >= 12
	}
	armed = false
	if last == nil || last.Error() != "train: step 13: the output of layer 1.apply is not finite" {
		t.Fatalf("the loop ended with %v", last)
	}
	again, err := train.New(m, c)
	if err != nil {
		t.Fatal(err)
	}
	if again.Step() != 10 {
		t.Fatalf("continued at step %d, want 10", again.Step())
	}
	if err := again.Run(context.Background()); err != nil {
		t.Error(err)
	}
}

var armed bool

func TestBadCheckpoint(t *testing.T) {
	c := config()
	c.Checkpoint = filepath.Join(t.TempDir(), "run.ckpt")
	run(t, network(moment.UT(2)), c)
	good, err := os.ReadFile(c.Checkpoint)
	if err != nil {
		t.Fatal(err)
	}
	refuse := func(what, want string, m *model.Model, c train.Config) {
		t.Helper()
		_, err := train.New(m, c)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", what, err)
		}
	}
	other := c
	other.Seed = 10
	refuse("another seed", "seed 9", network(moment.UT(2)), other)
	small, err := model.New(model.Config{Input: nn.Vec(2), Layers: nn.Chain{nn.Dense{Out: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	refuse("another network", "another network", small, c)
	os.WriteFile(c.Checkpoint, good[:len(good)-5], 0o644)
	refuse("truncated", "truncated", network(moment.UT(2)), c)
	os.WriteFile(c.Checkpoint, nil, 0o644)
	refuse("empty", "run.ckpt", network(moment.UT(2)), c)
	good[len(good)-100] ^= 4
	os.WriteFile(c.Checkpoint, good, 0o644)
	m := network(moment.UT(2))
	before := slices.Clone(m.Params.Theta)
	refuse("altered", "altered", m, c)
	if !same(before, m.Params.Theta) {
		t.Error("a refused checkpoint changed the network")
	}
}
