package likelihood_test

import (
	"fmt"
	"math"
	"testing"

	"utvi/likelihood"
	"utvi/likelihood/likelihoodtest"
)

// massNLL is −ln p(y) of a negative binomial of mean e^l and dispersion e^a.
func massNLL(y, l, a float64) float64 {
	r, mu := math.Exp(-a), math.Exp(l)
	one, _ := math.Lgamma(r)
	two, _ := math.Lgamma(y + 1)
	three, _ := math.Lgamma(y + r)
	return one + two - three - r*math.Log(r/(r+mu)) - y*math.Log(mu/(r+mu))
}

func TestCountDispersed(t *testing.T) {
	likelihoodtest.Check(t, likelihood.Count{Dispersed: true}, likelihoodtest.Case{
		Rows: []likelihoodtest.Row{
			row(vec{3, 0}, vec{0.5, -1.2, -0.7, 0.4}, vec{0.2, 0.6, 0, 0}),
			row(vec{12, 1}, vec{2.2, 0, -3, 1.5}, vec{0, 0.1, 0, 0}),
			row(vec{140, 7}, vec{4.2, 1.3, -6, 0}, vec{0.01, 2.5, 0, 0})},
		Expected: true,
		NLL: func(r likelihoodtest.Row, f []float64) float64 {
			return massNLL(r.Y[0], f[0], f[2]) + massNLL(r.Y[1], f[1], f[3])
		},
		Target: func(_ likelihoodtest.Row, i int, f []float64) (float64, float64) {
			mu := math.Exp(f[i])
			return mu, mu + math.Exp(f[2+i])*mu*mu
		},
		Floored: []likelihoodtest.Row{row(vec{3, 0}, vec{1, 2, -13, 6}, vec{0, 0, 0, 0}), row(vec{3, 0}, vec{1, 2, -11, 6}, vec{0, 4, 0, 0})},
		Bites:   []int{2, 1},
		Bad:     []likelihoodtest.Row{row(vec{-1, 0}, vec{0, 0, 0, 0}, vec{0, 0, 0, 0})},
	})
}

// Counts of a table are encoded; predictions are, too.
func TestCountScale(t *testing.T) {
	zero := []float64{-1.5, 0.25}
	step := []float64{0.5, 2}
	base := []float64{1.3, -0.4}
	count := func(r likelihoodtest.Row, i int) float64 { return (r.Y[i] - zero[i]) / step[i] }
	likelihoodtest.Check(t, likelihood.Count{Scale: &likelihood.CountScale{Zero: zero, Step: step, Base: base}}, likelihoodtest.Case{
		Rows: []likelihoodtest.Row{
			row(vec{0, 0.25}, vec{0.5, -1.2}, vec{0.2, 0.6}),
			row(vec{4.5, 2.25}, vec{2.2, 0}, vec{0, 0.1})},
		Expected: true,
		NLL: func(r likelihoodtest.Row, f []float64) (nll float64) {
			for i := range r.Y {
				g, _ := math.Lgamma(count(r, i) + 1)
				nll += math.Exp(base[i]+f[i]) - count(r, i)*(base[i]+f[i]) + g
			}
			return nll
		},
		Target: func(_ likelihoodtest.Row, i int, f []float64) (float64, float64) {
			return zero[i] + step[i]*math.Exp(base[i]+f[i]), step[i] * step[i] * math.Exp(base[i]+f[i])
		},
		Bad: []likelihoodtest.Row{row(vec{-2.5, 0.25}, vec{0, 0}, vec{0, 0})},
	})
}

// Far from the training rows the mean of a count is bounded.
func TestCountBound(t *testing.T) {
	l := likelihood.Count{Dispersed: true, Scale: &likelihood.CountScale{Zero: vec{-1}, Step: vec{0.1}, Most: vec{50}}}
	var m, v [1]float64
	l.Predict(vec{40, -1}, vec{3, 0}, m[:], v[:])
	if want := -1 + 0.1*50; m[0] != want {
		t.Errorf("the mean is %v, want %v", m[0], want)
	}
}

func TestCountRefuses(t *testing.T) {
	for want, l := range map[string]likelihood.Count{
		"likelihood count: the network has 3 outputs; it needs an even number, log-means first, then as many log-dispersions": {Dispersed: true},
		"likelihood count: a scale of 1 zeros, 1 steps, 0 bases and 0 bounds; there are 3 targets":                            {Scale: &likelihood.CountScale{Zero: vec{1}, Step: vec{1}}},
		"likelihood count: zeros [0 0 0], steps [1 0 1], bases [] and bounds []; all must be finite, steps and bounds > 0":    {Scale: &likelihood.CountScale{Zero: vec{0, 0, 0}, Step: vec{1, 0, 1}}},
	} {
		if _, err := l.Targets(3); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func ExampleCount() {
	l := likelihood.Count{Dispersed: true} // the second output is the logarithm of the dispersion
	var y, v [1]float64
	l.Predict(vec{math.Log(4), math.Log(0.5)}, vec{0, 0}, y[:], v[:])
	fmt.Printf("%.1f ± %.1f\n", y[0], math.Sqrt(v[0]))
	// Output: 4.0 ± 3.5
}
