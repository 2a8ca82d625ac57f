package momenttest

import (
	"math"
	"strings"
	"testing"

	"utvi/internal/redtest"
	"utvi/moment"
)

// piecewise are functions of straight pieces: their slopes are differences of
// values, which rounding blurs.
var piecewise = []*moment.Func{
	{Name: "hinge", Kinks: []float64{0.4}, F: func(x float64) float64 {
		if x < 0.4 {
			return -0.3 * x
		}
		return 2*x - 0.92
	}},
	{Name: "clip", Kinks: []float64{-1, 1.5}, F: func(x float64) float64 { return min(max(x, -1), 1.5) }},
	{Name: "distance", Kinks: []float64{100}, F: func(x float64) float64 { return math.Abs(x - 100) }},
}

var rules = []moment.Rule{
	moment.UT(2), moment.UT(0.5), moment.LearnedUT(1.3),
	moment.GaussHermite(2), moment.GaussHermite(5), moment.GaussHermite(32),
	moment.GenUT(0.4, 3.7), moment.MonteCarlo(2), moment.MonteCarlo(29), moment.Linear(),
}

func TestPiecewiseLinearWithoutSlope(t *testing.T) {
	for _, f := range piecewise {
		for _, r := range rules {
			t.Run(f.Name+"/"+r.String(), func(t *testing.T) { Pair(t, f, r) })
		}
	}
}

// The variance's gradient vanishes with the variance, rather than rise with the
// rounding of differences.
func TestNoGradientFromRounding(t *testing.T) {
	for _, f := range piecewise {
		for v := 1e-14; v > 1e-40; v /= 100 {
			if j := at(t, f, moment.UT(2), -1.7, v); math.Abs(j.MeanByVar) > 1e-3 {
				t.Fatalf("%s at N(-1.7, %v): ∂mean/∂v = %v, want 0", f.Name, v, j.MeanByVar)
			}
		}
	}
}

// A wrong slope is noticed, by every rule.
func TestWrongSlopeFails(t *testing.T) {
	for _, r := range rules {
		f := *piecewise[0]
		f.DF = func(x float64) float64 {
			if x < 0.4 {
				return -0.3
			}
			return 2 + 1e-4
		}
		if failed := redtest.Run(t, func(t testing.TB) { derivatives(t, &f, r) }); len(failed) == 0 || !strings.Contains(failed[0], "finite differences") {
			t.Errorf("%v: %q", r, failed)
		}
	}
}
