package fit

import (
	"context"
	"testing"

	"utvi/internal/compute"
)

// If rows are held out by groups, the bands of the coverage follow from how the groups differ:
// on held-out rows, by folds and on other tables that name the groups.
func TestBandsOfGroups(t *testing.T) {
	c := Config{Network: quick}
	c.Targets, c.Group = []string{"strength"}, "minutes"
	f := read(t, example(t, 90, 1))
	r, err := Run(context.Background(), f, c, Options{})
	if err != nil {
		t.Fatal(err)
	}
	pool := compute.NewPool(1)
	defer pool.Close()
	other, err := r.Model.Evaluate(context.Background(), read(t, example(t, 60, 2)).Rows(nil), pool)
	if err != nil {
		t.Fatal(err)
	}
	folds, err := CrossValidate(context.Background(), f, c, 3, Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string]struct {
		e     *Evaluation
		least int
	}{"held out": {r.Evaluation, 2}, "another table": {other, 20}, "folds": {folds, 20}} {
		for _, i := range x.e.Targets[0].Numbers.Intervals {
			if i.Groups < x.least || i.Groups >= x.e.Rows {
				t.Errorf("%s: %+v, of %d rows", name, i, x.e.Rows)
			}
		}
	}
	c.Group = ""
	r, err = Run(context.Background(), f, c, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if i := r.Evaluation.Targets[0].Numbers.Intervals[0]; i.Groups != 0 {
		t.Errorf("without groups: %+v", i)
	}
}
