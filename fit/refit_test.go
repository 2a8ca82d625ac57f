package fit

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"utvi/internal/tabular"
	"utvi/predict"
)

func refitConfig(r string) Config {
	c := quick
	c.Steps = 64
	return Config{Targets: []string{"strength"}, Refit: r, Network: c}
}

func predicted(t *testing.T, m *Model, text string) map[string][]float64 {
	t.Helper()
	columns, _ := written(t, m, text, predict.Options{Interval: 0.9}, 1)
	return columns
}

// The rows held out are scored by networks that did not see them, and trained with afterwards.
func TestRefit(t *testing.T) {
	text := example(t, 90, 3)
	run := func(r string) *Result {
		x, err := Run(t.Context(), read(t, text), refitConfig(r), Options{})
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	before := run(refitNever)
	after := run("")
	always := run(refitAlways)
	if f := before.Model.Facts; f.Rows != 81 || f.Refitted != 0 {
		t.Errorf("without a refit the model has learned from %d rows, %d of them held out at first", f.Rows, f.Refitted)
	}
	if f := after.Model.Facts; f.Rows != 90 || f.Refitted != 9 || after.Model.Net.Report.Rows != 90 {
		t.Errorf("after a refit the model has learned from %d rows, %d of them held out at first; its report says %d", f.Rows, f.Refitted, after.Model.Net.Report.Rows)
	}
	if !reflect.DeepEqual(before.Evaluation.Scores(), after.Evaluation.Scores()) {
		t.Errorf("the scores are %+v, without a refit %+v", after.Evaluation.Scores(), before.Evaluation.Scores())
	}
	if reflect.DeepEqual(predicted(t, before.Model, text), predicted(t, after.Model, text)) {
		t.Error("the networks are those that were scored")
	}
	if !reflect.DeepEqual(predicted(t, always.Model, text), predicted(t, after.Model, text)) {
		t.Error("a small table is not refitted by default as if it were asked for")
	}
	if !reflect.DeepEqual(before.Model.Net.Residuals, after.Model.Net.Residuals) {
		t.Error("the shape of the residuals, which held-out rows showed, is another one")
	}
	e, err := after.Model.Evaluate(t.Context(), read(t, text).Rows(nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Notes) == 0 {
		t.Error("an evaluation with the training rows does not say so")
	}
}

// A refit that is stopped leaves the model that was scored, and continues to the same bits.
func TestRefitContinues(t *testing.T) {
	text := example(t, 90, 3)
	want, err := Run(t.Context(), read(t, text), refitConfig(""), Options{})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o := Options{Checkpoint: dir, Workers: 1, Progress: func(p tabular.Progress) {
		if p.Stage == "training again" {
			cancel()
		}
	}}
	stopped, err := Run(ctx, read(t, text), refitConfig(""), o)
	if !errors.Is(err, context.Canceled) || stopped == nil || stopped.Model.Facts.Refitted != 0 || stopped.Evaluation == nil {
		t.Fatalf("stopped while training again, the result is %+v, the error %v", stopped, err)
	}
	o.Progress = nil
	o.Workers = 2
	got, err := Run(t.Context(), read(t, text), refitConfig(""), o)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(predicted(t, got.Model, text), predicted(t, want.Model, text)) {
		t.Error("the fit that was stopped while training again continues to other bits")
	}
}

// The networks of large tables, of images and without held-out rows are not trained again.
func TestRefits(t *testing.T) {
	for _, x := range []struct {
		refit   string
		holdout float64
		rows    int
		want    bool
	}{
		{"", 0.1, refitRows - 1, true}, {"", 0.1, refitRows, false}, {refitAlways, 0.1, refitRows, true},
		{refitNever, 0.1, 100, false}, {refitAlways, -1, 100, false},
	} {
		if got := (Config{Refit: x.refit, Holdout: x.holdout}).refits(x.rows); got != x.want {
			t.Errorf("refit %q of %d rows with %g held out: %v", x.refit, x.rows, x.holdout, got)
		}
	}
	c := refitConfig("sometimes")
	if err := c.Check(); err == nil {
		t.Error("refit: sometimes is accepted")
	}
}
