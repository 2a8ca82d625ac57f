package fit

import (
	"context"
	"testing"
)

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
