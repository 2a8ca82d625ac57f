package tabular_test

import (
	"testing"

	"utvi/tabular"
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
	for _, name := range []string{"trial-0-0", "trial-1-0", "trial-0-0-1", "trial-1-0-1", "member-0", "member-1"} {
		x, ok := seen[name]
		if !ok || x.Step != x.Steps || len(x.Curve) == 0 || x.Curve[len(x.Curve)-1].Step != x.Steps || x.Failed != "" {
			t.Errorf("%s: %+v", name, x)
		}
	}
	if len(seen) != 6 {
		t.Errorf("%d trainings are reported", len(seen))
	}
}
