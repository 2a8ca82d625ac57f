package quad

import (
	"math"
	"testing"

	"utvi/internal/special"
	"utvi/moment"
)

// The moments of functions that jump, with a slope that knows nothing of it.
func TestJumps(t *testing.T) {
	step := func(at float64) *moment.Func {
		return &moment.Func{Name: "step", Kinks: []float64{at}, DF: func(float64) float64 { return 0 }, F: func(x float64) float64 {
			if x > at {
				return 1
			}
			return 0
		}}
	}
	gate := &moment.Func{Name: "gate", Kinks: []float64{0.3}, F: func(x float64) float64 {
		if x > 0.3 {
			return x
		}
		return 0
	}, DF: func(x float64) float64 {
		if x > 0.3 {
			return 1
		}
		return 0
	}}
	hidden := *step(0.3)
	hidden.Kinks = nil // nobody says where it jumps
	for _, c := range []struct {
		f              *moment.Func
		mean, variance float64
		m, v           float64
	}{
		{step(0.3), 0, 1, special.CDF(-0.3), special.CDF(-0.3) * special.CDF(0.3)},
		{step(0.3), 0.3, 4, 0.5, 0.25},
		{step(0.3), -5, 1, special.CDF(-5.3), special.CDF(-5.3) * special.CDF(5.3)},
		{step(1000), 0, 1e4, special.CDF(-10), special.CDF(-10)},
		{gate, 0, 1, special.PDF(0.3), 0.3*special.PDF(0.3) + special.CDF(-0.3) - special.PDF(0.3)*special.PDF(0.3)},
		{&hidden, 0, 1, special.CDF(-0.3), special.CDF(-0.3) * special.CDF(0.3)},
	} {
		m, v, err := Moments(c.f, c.mean, c.variance)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(m-c.m) > 1e-10*c.m || math.Abs(v-c.v) > 1e-10*c.v {
			t.Errorf("%s of N(%g, %g): %g and %g, want %g and %g", c.f.Name, c.mean, c.variance, m, v, c.m, c.v)
		}
	}
}

// The variance of an exponential is finite long after its square is not at the ends of what is
// integrated; where these ends matter, quadrature fails instead of leaving them out.
func TestWideExponentials(t *testing.T) {
	exp := &moment.Func{Name: "exp", F: math.Exp, DF: math.Exp}
	for _, variance := range []float64{50, 85, 100, 200} {
		_, v, err := Moments(exp, 0, variance)
		if err != nil {
			t.Fatal(err)
		}
		if want := math.Exp(2*variance) - math.Exp(variance); math.Abs(v/want-1) > 1e-9 {
			t.Errorf("exp of N(0, %g): variance %g, want %g", variance, v, want)
		}
	}
	if m, v, err := Moments(exp, 0, 340); err == nil {
		t.Errorf("exp of N(0, 340): %g and %g", m, v)
	}
}
