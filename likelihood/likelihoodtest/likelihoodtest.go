// Package likelihoodtest is the conformance suite of likelihoods: a new one calls
// Check in one line of its test.
package likelihoodtest

import (
	"math"
	"testing"

	"utvi/likelihood"
)

// A Row is a row to score.
type Row struct {
	Y, Mean, Var []float64
}

// A Case says what a likelihood should do.
type Case struct {
	Rows []Row // within the floors, and asymmetric

	// NLL is −ln p(y|f), the score of outputs f that are numbers; Expected says
	// that Row is its mean over f, rather than −ln of the mean of e^−NLL.
	NLL      func(y, f []float64) float64
	Expected bool

	// Target gives mean and variance of target i for outputs f. Needed of a
	// likelihood.Predictive.
	Target func(i int, f []float64) (mean, variance float64)

	// Split is the part of every variance that is the outputs' spread, where the
	// rest is noise inside NLL; 0 stands for 1: all of it.
	Split float64

	// Floored are rows out of bounds, with how many moments are.
	Floored []Row
	Bites   []int

	// Bad are rows whose targets are impossible: they score NaN.
	Bad []Row
}

// Check checks a likelihood: its value against numerical integration of its
// definition; gradients against finite differences; what it predicts and scores,
// if it is a likelihood.Predictive, against integration; the count of floored
// moments; and that nothing within float32 makes it infinite.
func Check(t *testing.T, l likelihood.Likelihood, c Case) {
	t.Helper()
	if c.Split == 0 {
		c.Split = 1
	}
	t.Run("targets", func(t *testing.T) { targets(t, l, c) })
	t.Run("value", func(t *testing.T) { value(t, l, c) })
	t.Run("gradients", func(t *testing.T) { gradients(t, l, c) })
	if p, ok := l.(likelihood.Predictive); ok {
		t.Run("predictive", func(t *testing.T) { predictive(t, p, c) })
	} else if c.Target != nil {
		t.Error("a Target is given, but the likelihood is not Predictive")
	}
	t.Run("floor", func(t *testing.T) { floors(t, l, c) })
	t.Run("extremes", func(t *testing.T) { extremes(t, l, c) })
}

func score(l likelihood.Likelihood, r Row) (nll float64, dmean, dvar []float64, floored int) {
	dmean, dvar = make([]float64, len(r.Mean)), make([]float64, len(r.Mean))
	for i := range dmean {
		dmean[i], dvar[i] = math.NaN(), math.NaN() // every one must be written
	}
	nll, floored = l.Row(r.Y, r.Mean, r.Var, dmean, dvar)
	return nll, dmean, dvar, floored
}

func targets(t *testing.T, l likelihood.Likelihood, c Case) {
	r := c.Rows[0]
	if n, err := l.Targets(len(r.Mean)); err != nil || n != len(r.Y) {
		t.Errorf("%d outputs have %d targets (%v), want %d", len(r.Mean), n, err, len(r.Y))
	}
	if _, err := l.Targets(0); err == nil {
		t.Error("a network without outputs was accepted")
	}
}

// Expect integrates g over independent Normals: the trapezoidal rule over ±9 σ in
// each dimension, coarser and over ±7.5 σ if there are more than two.
func Expect(mean, variance []float64, g func(f []float64) float64) float64 {
	f := make([]float64, len(mean))
	copy(f, mean)
	step, n := 1.0/8, 72
	if len(mean) > 2 {
		step, n = 0.5, 15
	}
	var inner func(i int, w float64) float64
	inner = func(i int, w float64) float64 {
		if i == len(f) {
			return w * g(f)
		}
		if variance[i] == 0 {
			return inner(i+1, w)
		}
		var sum float64
		s := math.Sqrt(variance[i])
		for k := -n; k <= n; k++ {
			xi := step * float64(k)
			f[i] = mean[i] + s*xi
			sum += inner(i+1, w*step*math.Exp(-xi*xi/2)/math.Sqrt(2*math.Pi))
		}
		return sum
	}
	return inner(0, 1)
}

// spread returns the part of the variances that is the outputs' own.
func (c Case) spread(r Row) []float64 {
	v := make([]float64, len(r.Var))
	for i := range v {
		v[i] = c.Split * r.Var[i]
	}
	return v
}

// predicted is −ln E[e^−NLL] by integration.
func (c Case) predicted(r Row) float64 {
	return -math.Log(Expect(r.Mean, c.spread(r), func(f []float64) float64 { return math.Exp(-c.NLL(r.Y, f)) }))
}

func value(t *testing.T, l likelihood.Likelihood, c Case) {
	for _, r := range c.Rows {
		got, _, _, floored := score(l, r)
		want := c.predicted(r)
		if c.Expected {
			want = Expect(r.Mean, r.Var, func(f []float64) float64 { return c.NLL(r.Y, f) })
		}
		if math.Abs(got-want) > 1e-9*(1+math.Abs(want)) || floored != 0 {
			t.Errorf("%+v: %v (%d floored), by integration %v", r, got, floored, want)
		}
	}
}

func gradients(t *testing.T, l likelihood.Likelihood, c Case) {
	for _, r := range c.Rows {
		_, dmean, dvar, _ := score(l, r)
		check := func(what string, x []float64, d []float64) {
			for i := range x {
				at := x[i]
				h := 1e-5 * (1e-2 + math.Abs(at))
				x[i] = at - h
				lo, _, _, _ := score(l, r)
				x[i] = at + h
				hi, _, _, _ := score(l, r)
				x[i] = at
				if want := (hi - lo) / (2 * h); math.Abs(d[i]-want) > 1e-6*(1+math.Abs(want)) || math.IsNaN(d[i]) {
					t.Errorf("%+v: ∂/∂%s %d is %v, by differences %v", r, what, i, d[i], want)
				}
			}
		}
		check("mean", r.Mean, dmean)
		check("variance", r.Var, dvar)
	}
}

func predictive(t *testing.T, l likelihood.Predictive, c Case) {
	if c.Target == nil {
		t.Fatal("the likelihood is Predictive: the case needs a Target")
	}
	for _, r := range c.Rows {
		if got, want := l.Score(r.Y, r.Mean, r.Var), c.predicted(r); math.Abs(got-want) > 1e-7*(1+math.Abs(want)) {
			t.Errorf("%+v: score %v, by integration %v", r, got, want)
		}
		ymean, yvar := make([]float64, len(r.Y)), make([]float64, len(r.Y))
		l.Predict(r.Mean, r.Var, ymean, yvar)
		for i := range r.Y {
			v := c.spread(r)
			mean := Expect(r.Mean, v, func(f []float64) float64 { m, _ := c.Target(i, f); return m })
			variance := Expect(r.Mean, v, func(f []float64) float64 {
				m, v := c.Target(i, f)
				return v + (m-mean)*(m-mean)
			})
			if math.Abs(ymean[i]-mean) > 1e-9*(1+math.Abs(mean)) || math.Abs(yvar[i]-variance) > 1e-8*(1+variance) {
				t.Errorf("%+v: target %d is predicted %v ± %v, by integration %v ± %v", r, i, ymean[i], yvar[i], mean, variance)
			}
		}
	}
}

func floors(t *testing.T, l likelihood.Likelihood, c Case) {
	for k, r := range c.Floored {
		nll, dmean, dvar, floored := score(l, r)
		if floored != c.Bites[k] || !finite(nll) || !finite(dmean...) || !finite(dvar...) {
			t.Errorf("%+v: %d floored, want %d; score %v, gradients %v %v", r, floored, c.Bites[k], nll, dmean, dvar)
		}
	}
	for _, r := range c.Bad {
		if nll, _, _, _ := score(l, r); !math.IsNaN(nll) {
			t.Errorf("%+v scores %v; it should be NaN", r, nll)
		}
	}
}

func extremes(t *testing.T, l likelihood.Likelihood, c Case) {
	means := []float64{-1e30, -1e4, -700, 0, 1e-30, 700, 1e4, 1e30}
	variances := []float64{0, 1e-40, 1, 700, 1e30}
	for _, base := range c.Rows {
		for i := range base.Mean {
			for _, m := range means {
				for _, v := range variances {
					r := Row{base.Y, append([]float64{}, base.Mean...), append([]float64{}, base.Var...)}
					r.Mean[i], r.Var[i] = m, v
					nll, dmean, dvar, _ := score(l, r)
					if !finite(nll) || !finite(dmean...) || !finite(dvar...) {
						t.Errorf("%+v: score %v, gradients %v %v", r, nll, dmean, dvar)
					}
					if p, ok := l.(likelihood.Predictive); ok {
						ymean, yvar := make([]float64, len(r.Y)), make([]float64, len(r.Y))
						p.Predict(r.Mean, r.Var, ymean, yvar)
						if s := p.Score(r.Y, r.Mean, r.Var); !finite(ymean...) || !finite(yvar...) || math.IsNaN(s) || math.IsInf(s, -1) {
							t.Errorf("%+v: predicts %v ± %v, scores %v", r, ymean, yvar, s)
						}
					}
				}
			}
		}
	}
}

func finite(x ...float64) bool {
	for _, x := range x {
		if x-x != 0 {
			return false
		}
	}
	return true
}
