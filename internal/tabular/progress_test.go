package tabular_test

import (
	"fmt"
	"testing"

	"utvi/internal/tabular"
)

// Every training of a fit is reported under its name, up to its last step, with its curve.
func TestTrainingsAreReported(t *testing.T) {
	c := quick
	c.Steps, c.Ensemble = 160, 2
	seen := map[string]tabular.Training{}
	if _, err := tabular.Fit(t.Context(), c, wave(1, 60, 0.1), "", func(p tabular.Progress) {
		if p.Training != nil {
			seen[p.Training.Name] = *p.Training
		}
	}); err != nil {
		t.Fatal(err)
	}
	names := []string{"member-0", "member-1"}
	for f := range 5 {
		for _, what := range []string{"", "-1", "-half"} {
			names = append(names, fmt.Sprintf("trial-%d-0%s", f, what))
		}
	}
	for _, name := range names {
		x, ok := seen[name]
		if !ok || x.Step != x.Steps || len(x.Curve) == 0 || x.Curve[len(x.Curve)-1].Step != x.Steps || x.Failed != "" {
			t.Errorf("%s: %+v", name, x)
		}
	}
	if len(seen) != len(names) {
		t.Errorf("%d trainings are reported", len(seen))
	}
}
