package fit

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"utvi/internal/tabular"
)

// TestCrossValidate scores every row once, with models that did not see it.
func TestCrossValidate(t *testing.T) {
	f, conf := read(t, example(t, 90, 1)), spec("strength")
	conf.Network.Steps, conf.Network.Ensemble = 40, 1
	var told []int
	a, err := CrossValidate(t.Context(), f, conf, 3, Options{}, func(i int) { told = append(told, i) })
	if err != nil || a.Rows != 90 || !slices.Equal(told, []int{0, 1, 2}) || a.Trained != 0 {
		t.Fatalf("%+v, %v, %v", a, told, err)
	}
	b, err := CrossValidate(t.Context(), f, conf, 3, Options{Workers: 1, Checkpoint: t.TempDir()}, nil)
	if err != nil || a.Targets[0].Numbers.LL != b.Targets[0].Numbers.LL {
		t.Errorf("again: %v, %v; %v", a.Targets[0].Numbers.LL, b.Targets[0].Numbers.LL, err)
	}
	for folds, says := range map[int]string{90: "", 91: "91 folds of 90 rows", 1: "1 folds of 90 rows"} {
		if err := conf.CheckFolds(f, folds); (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%d folds: %v", folds, err)
		}
	}
	small := read(t, example(t, 12, 1))
	if err := conf.CheckFolds(small, 5); err == nil || !strings.Contains(err.Error(), "with 5 folds a model has 9 of 12 rows to learn from; at least 10 are needed; 6 folds leave enough") {
		t.Error(err)
	}
	if err := conf.CheckFolds(small, conf.FewestFolds(12)); err != nil || conf.FewestFolds(90) != 5 || conf.FewestFolds(10) != 0 {
		t.Errorf("the fewest folds of 12, 90 and 10 rows are %d, %d and %d; %v", conf.FewestFolds(12), conf.FewestFolds(90), conf.FewestFolds(10), err)
	}
	conf.Time = "minutes"
	if err := conf.CheckFolds(f, 3); err == nil {
		t.Error("folds of rows in the order of time")
	}
	if _, err := CrossValidate(t.Context(), f, conf, 3, Options{}, nil); err == nil {
		t.Error("rows in the order of time were cross-validated")
	}
	conf = spec("resin")
	conf.Network.Noise, conf.Network.Steps = "", 8
	if e, err := CrossValidate(t.Context(), f, conf, 5, Options{}, nil); err != nil || e.Targets[0].Classes.Rows != 90 {
		t.Errorf("%+v, %v", e, err)
	}
}

// TestBudget ends a training by its time, without an error. However slow the machine, some budget
// is enough for a first model.
func TestBudget(t *testing.T) {
	conf := spec("strength")
	conf.Network.Steps = 100_000_000
	const tooShort = "ended before the first model was ready"
	short := func(err error) bool { return err != nil && strings.Contains(err.Error(), tooShort) }
	if _, err := Run(t.Context(), read(t, example(t, 300, 1)), conf, Options{Budget: time.Nanosecond}); !short(err) {
		t.Error(err)
	}
	budget := time.Second
	r, err := Run(t.Context(), read(t, example(t, 300, 1)), conf, Options{Budget: budget})
	for short(err) {
		budget *= 2
		r, err = Run(t.Context(), read(t, example(t, 300, 1)), conf, Options{Budget: budget})
	}
	if err != nil || !r.Model.Facts.Interrupted || r.Evaluation.Rows != 30 || (r.Ratio == nil) != saysLate(r) {
		t.Fatalf("%+v, %v", r, err)
	}
	// Somebody who stops the fit while it ends by its budget is told so.
	ctx, cancel := context.WithCancel(t.Context())
	stop := sync.OnceFunc(func() {
		time.Sleep(budget) // the budget has ended for certain
		cancel()
	})
	if _, err := Run(ctx, read(t, example(t, 300, 1)), conf, Options{Budget: budget, Progress: func(tabular.Progress) { stop() }}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func saysLate(r *Result) bool {
	return slices.ContainsFunc(r.Evaluation.Notes, func(s string) bool { return strings.HasPrefix(s, "the time was over") })
}

// TestLateScoresLess scores the rows of a fit whose time is over, and draws no networks to compare with; one
// that has time does.
func TestLateScoresLess(t *testing.T) {
	conf := spec("strength").complete()
	conf.Network.Steps = 8
	conf.Network.Ensemble = 1
	conf.Network.KL = 1
	p, err := part(read(t, example(t, 300, 1)), conf)
	if err != nil {
		t.Fatal(err)
	}
	l, err := learn(t.Context(), p, conf, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, late := range []bool{true, false} {
		o := Options{Budget: time.Hour, begun: time.Now()}
		if late {
			o.begun = o.begun.Add(-2 * time.Hour)
		}
		r := &Result{Model: l.model}
		if err := l.judge(t.Context(), r, o); err != nil || r.Evaluation.Rows != 30 || saysLate(r) != late || (r.Ratio == nil) != late || r.Insight == nil {
			t.Errorf("late %v: %+v, %v", late, r, err)
		}
	}
}

// TestStopScoresFewer keeps the user waiting for few rows only.
func TestStopScoresFewer(t *testing.T) {
	conf := spec("strength")
	conf.Holdout, conf.Network.Steps = 0.9, 100_000_000
	ctx, cancel := context.WithCancel(t.Context())
	r, err := Run(ctx, read(t, example(t, 6000, 1)), conf, Options{Progress: func(p tabular.Progress) {
		if p.Training != nil && p.Training.Step > 0 {
			cancel()
		}
	}})
	if err == nil || r == nil || r.Evaluation.Rows != stoppedRows || r.Ratio != nil || len(r.Evaluation.Notes) == 0 || !strings.Contains(r.Evaluation.Notes[len(r.Evaluation.Notes)-1], "4096 of 5400 held-out rows are scored") {
		t.Errorf("%+v, %v", r, err)
	}
}
