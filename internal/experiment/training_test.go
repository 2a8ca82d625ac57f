package experiment

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"utvi/internal/sweep"
)

// runTrial runs one trial in a folder.
func runTrial(t *testing.T, ctx context.Context, dir string, trial sweep.Trial) *sweep.Result {
	t.Helper()
	res, err := sweep.Runner{Kinds: Kinds(), Dir: dir}.Trial(ctx, trial, 1)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// The smallest training with more than one score, the last of them off the epoch.
var tinyFC = FCSpec{Seed: 5, Rule: "ut(2)", Steps: 2*fcEpochSteps + 20}

// stopAt runs a trial until it tells a step.
func stopAt(t *testing.T, dir string, trial sweep.Trial, step int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r := sweep.Runner{Kinds: Kinds(), Dir: dir, Progress: func(e sweep.Event) {
		if e.Step >= step {
			cancel()
		}
	}}
	if _, err := r.Trial(ctx, trial, 1); !errors.Is(err, context.Canceled) {
		t.Fatalf("stopped at %d: %v, want the context's error", step, err)
	}
}

func TestTrainingContinuesBitForBit(t *testing.T) {
	trial := tinyFC.trial("tiny")
	dir := t.TempDir()
	whole := runTrial(t, t.Context(), dir, trial)
	model, err := os.ReadFile(dir + "/" + trial.ID() + ".utvi")
	if err != nil {
		t.Fatal(err)
	}
	// At the very start, before the first score, at an epoch's end, twice between
	// scores, and after the last full epoch.
	for _, stops := range [][]int{{0}, {40}, {fcEpochSteps}, {fcEpochSteps + 8, fcEpochSteps + 32}, {40, 2*fcEpochSteps + 8}} {
		dir := t.TempDir()
		for _, s := range stops {
			stopAt(t, dir, trial, s)
		}
		again := runTrial(t, t.Context(), dir, trial)
		if again.Sum != whole.Sum {
			t.Errorf("stopped at %v and continued, the results differ from an unbroken run's", stops)
		}
		got, err := os.ReadFile(dir + "/" + trial.ID() + ".utvi")
		if err != nil || string(got) != string(model) {
			t.Errorf("stopped at %v and continued, the network differs from an unbroken run's (%v)", stops, err)
		}
		left, _ := os.ReadDir(dir)
		for _, f := range left {
			if strings.Contains(f.Name(), "checkpoint") {
				t.Errorf("%s is left behind", f.Name())
			}
		}
	}
}

// A program that is killed leaves marks ahead of its checkpoint: those are what
// it would make again. Marks that are not of the checkpoint are refused.
func TestTrainingMarks(t *testing.T) {
	trial := tinyFC.trial("tiny")
	whole := runTrial(t, t.Context(), t.TempDir(), trial)
	dir := t.TempDir()
	stem := dir + "/" + trial.ID()
	stopAt(t, dir, trial, 40)
	checkpoint, err := os.ReadFile(stem + ".checkpoint")
	if err != nil {
		t.Fatal(err)
	}
	stopAt(t, dir, trial, fcEpochSteps+8)
	ahead, err := os.ReadFile(stem + ".checkpoint.json")
	if err != nil {
		t.Fatal(err)
	}
	for marks, fails := range map[string]bool{
		string(ahead): false,
		strings.Replace(string(ahead), `"saved":[{"step":40`, `"saved":[{"step":41`, 1): true,
		`{"steps_between_scores":7}`: true,
		`{"steps`:                    true,
	} {
		for name, b := range map[string][]byte{".checkpoint": checkpoint, ".checkpoint.json": []byte(marks)} {
			if err := os.WriteFile(stem+name, b, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		res, err := sweep.Runner{Kinds: Kinds(), Dir: dir}.Trial(t.Context(), trial, 1)
		switch {
		case fails && (err == nil || !strings.Contains(err.Error(), "remove")):
			t.Errorf("with %.60s: %v, want an error that tells what to remove", marks, err)
		case !fails && (err != nil || res.Sum != whole.Sum):
			t.Errorf("with %.60s: %v, or another result", marks, err)
		}
		os.Remove(sweep.ResultPath(dir, trial))
	}
}
