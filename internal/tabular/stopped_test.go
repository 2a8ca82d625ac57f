package tabular_test

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"utvi/internal/tabular"
)

// stopped fits a table until a training is told that stop names.
func stopped(t *testing.T, c tabular.Config, d tabular.Data, stop func(x *tabular.Training) bool) *tabular.Fitted {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	f, err := tabular.Fit(ctx, c, d, "", func(p tabular.Progress) {
		if p.Training != nil && stop(p.Training) {
			cancel()
		}
	})
	if f == nil || !errors.Is(err, context.Canceled) || !f.Report.Partial {
		t.Fatalf("the model is %v, the error %v", f, err)
	}
	return f
}

// A network that is stopped between two looks at held-out rows predicts them once more, so
// that the model knows its errors.
func TestStoppedBetweenStops(t *testing.T) {
	d := wave(6, 100, 0.2)
	c := quick
	c.Parallel, c.Steps = 1, 4000
	f := stopped(t, c, d, func(x *tabular.Training) bool { return x.Step > 0 })
	m := f.Report.Members[0]
	if n := len(m.Curve); m.Steps >= c.Steps/8 || n != 1 || m.Curve[0].Step != m.Steps || m.Curve[0].Held == 0 {
		t.Errorf("after %d steps the curve is %+v", m.Steps, m.Curve)
	}
	if len(f.Residuals[0].W) < 2 {
		t.Errorf("the shape of the residuals is %+v", f.Residuals[0])
	}
}

// The members that are ready when a fit is stopped are the model of a fit that asked for no more.
func TestStoppedMembers(t *testing.T) {
	d := wave(6, 100, 0.2)
	c := quick
	c.Parallel = 1
	c.Steps = 300
	c.Ensemble = 4
	f := stopped(t, c, d, func(x *tabular.Training) bool { return x.Name == "member-3" })
	c.Ensemble = 3
	g := fit(t, c, d)
	if !reflect.DeepEqual(f.Residuals, g.Residuals) || len(f.Report.Members) != 3 || f.Report.Score != g.Report.Score {
		t.Errorf("the shape is %+v, want %+v", f.Residuals, g.Residuals)
	}
}
