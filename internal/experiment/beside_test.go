package experiment

import (
	"errors"
	"testing"

	"utvi/engine"
	"utvi/internal/sweep"
)

// told is the CPU, but it trains nothing: it returns the job that it was given.
type told struct {
	engine.Engine[float32]
	job *engine.Job
}

func (e told) Train(_ engine.Network[float32], j engine.Job) (engine.Trainer, error) {
	*e.job = j
	return nil, errors.New("seen")
}

// The engine of a trial knows how many of its kind are planned, also if it runs alone.
func TestTrialsOfAPlan(t *testing.T) {
	a, b := tinyFC, tinyFC
	b.Seed++
	p, err := sweep.NewPlan("two", a.trial("a"), b.trial("b"))
	if err != nil {
		t.Fatal(err)
	}
	var j engine.Job
	r := sweep.Runner{Kinds: Kinds(), Dir: t.TempDir(), Engine: told{engine.CPU[float32](), &j}}
	if _, err := r.Trial(t.Context(), p.Trials[1], 1); err == nil || j.Beside != 2 {
		t.Errorf("the engine is to run %d trainings side by side, want 2; %v", j.Beside, err)
	}
}
