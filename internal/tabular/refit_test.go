package tabular_test

import (
	"reflect"
	"slices"
	"testing"

	"utvi/internal/tabular"
)

// A model that is trained again with other rows stays as it was: the new one has its own residuals.
func TestRefitLeavesTheFirst(t *testing.T) {
	d := wave(6, 100, 0.2)
	c := quick
	c.Steps = 60
	first := fit(t, c, d)
	was := slices.Clone(first.Residuals)
	again, err := first.Refit(t.Context(), wave(7, 120, 0.2), "", func(tabular.Progress) {})
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(first.Residuals, was) || first.Residuals[0].Support != was[0].Support {
		t.Error("what the first model says far from its rows is that of the second")
	}
	if again.Residuals[0].Support == nil || again.Residuals[0].Support == first.Residuals[0].Support {
		t.Error("the second model has no support of its own")
	}
}
