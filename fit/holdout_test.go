package fit

import (
	"context"
	"strings"
	"testing"
)

// The number of rows that a fit needs is told at once, with those to hold out.
func TestFewestRows(t *testing.T) {
	for _, c := range []struct {
		holdout float64
		rows    int
		want    string
	}{
		{0, 10, "has too few rows: 10; at least 11 are needed, 10 to learn from and 1 to hold out"},
		{0.5, 19, "has too few rows: 19; at least 20 are needed, 10 to learn from and 10 to hold out"},
		{-1, 9, "has too few rows: 9; at least 10 are needed to learn from"},
		{0, 11, ""},
		{0.5, 20, ""},
		{-1, 10, ""},
	} {
		conf := Config{Holdout: c.holdout, Network: quick}
		conf.Targets = []string{"strength"}
		_, err := Run(context.Background(), read(t, example(t, c.rows, 1)), conf, Options{})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%d rows, %v held out: %v, want %q", c.rows, c.holdout, err, c.want)
		}
	}
}

// Without held-out rows, all rows are trained with, and the model has no scores.
func TestNoHoldout(t *testing.T) {
	c := Config{Holdout: -1, Network: quick}
	c.Targets = []string{"strength"}
	r, err := Run(context.Background(), read(t, example(t, 60, 1)), c, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Model.Facts.Rows != 60 || r.Model.Facts.Held != nil || r.Evaluation != nil {
		t.Errorf("trained on %d of 60 rows, scores %v", r.Model.Facts.Rows, r.Model.Facts.Held)
	}
	path := t.TempDir() + "/m.utvi"
	if err := r.Model.Save(path); err != nil {
		t.Fatal(err)
	}
	if m, err := Load(path); err != nil || m.Facts.Held != nil {
		t.Errorf("loaded: %v", err)
	}
}
