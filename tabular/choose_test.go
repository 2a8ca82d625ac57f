package tabular

import (
	"errors"
	"math"
	"slices"
	"testing"

	"utvi/gauss"
)

// fromSeed is a candidate's training that predicted class probabilities p at two
// stops, worse at the first.
func fromSeed(err error, p ...float32) *result {
	worse := slices.Clone(p)
	for i := range worse {
		worse[i] /= 2
	}
	return &result{err: err, log: record{Held: []held{{Mean: worse}, {Mean: p}}}}
}

// rowsHeld are n held-out rows of a class.
func rowsHeld(n int) Data {
	return Data{X: gauss.Fixed(1, make([]float32, n)), Y: make([]float32, n), Classes: 2}
}

// A further seed whose training failed on one fold is left out of all, and the others
// are scored.
func TestFailedSeedsAreLeftOut(t *testing.T) {
	boom := errors.New("diverged")
	folds := []fold{
		{held: rowsHeld(2), by: [][]*result{{fromSeed(nil, 0.5, 0.5), fromSeed(nil, 0.9, 0.9), fromSeed(nil, 0.6, 0.7)}}},
		{held: rowsHeld(1), by: [][]*result{{fromSeed(nil, 0.5), fromSeed(boom, 0.9), fromSeed(nil, 0.8)}}},
	}
	trial := judgeTrial(folds, 0, Candidate{})
	if trial.Failed != "" || trial.Stop != 2 || math.Abs(trial.Score-math.Log(0.5)) > 1e-7 {
		t.Fatalf("the first seed: %+v", trial)
	}
	trial.again(folds, 0)
	if len(trial.seeds) != 2 {
		t.Fatalf("%d seeds were scored, want 2", len(trial.seeds))
	}
	for i, want := range []float64{0.6, 0.7, 0.8} {
		if got := trial.seeds[1].logp[i]; math.Abs(got-math.Log(want)) > 1e-7 {
			t.Errorf("row %d scores ln %v, want ln %v", i, math.Exp(got), want)
		}
	}
	for i, f := range folds {
		if len(f.by[0]) != 2 || f.by[0][1].err != nil {
			t.Errorf("fold %d keeps %d seeds", i, len(f.by[0]))
		}
	}
}

// A training that ended before the stop counts as failed.
func TestShortSeedsAreLeftOut(t *testing.T) {
	short := fromSeed(nil, 0.9)
	short.log.Held = short.log.Held[:1]
	folds := []fold{{held: rowsHeld(1), by: [][]*result{{fromSeed(nil, 0.5), short}}}}
	trial := judgeTrial(folds, 0, Candidate{})
	trial.again(folds, 0)
	if len(trial.seeds) != 1 || len(folds[0].by[0]) != 1 {
		t.Errorf("%d seeds were scored, %d kept; want 1", len(trial.seeds), len(folds[0].by[0]))
	}
}

// A candidate that failed on any fold is out of the question, and says why.
func TestFailedCandidates(t *testing.T) {
	boom := errors.New("diverged")
	folds := []fold{
		{held: rowsHeld(1), by: [][]*result{{fromSeed(nil, 0.5)}, {fromSeed(nil, 0.9)}}},
		{held: rowsHeld(1), by: [][]*result{{fromSeed(boom, 0.5)}, nil}},
	}
	for c, want := range []string{"diverged", "it was behind on the rows first held out"} {
		if trial := judgeTrial(folds, c, Candidate{}); trial.Failed != want || trial.Stop != 0 {
			t.Errorf("candidate %d: %q, stop %d", c, trial.Failed, trial.Stop)
		}
	}
}
