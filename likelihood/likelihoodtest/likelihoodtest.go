// Package likelihoodtest is the conformance suite of likelihoods: the test of a new
// likelihood calls Check in one line.
package likelihoodtest

import (
	"math"
	"reflect"
	"testing"

	"utvi/internal/codec"
	"utvi/likelihood"
)

// A Row is a row to score.
type Row struct {
	Y, Mean, Var []float64
}

// A Case says how a likelihood should behave.
type Case struct {
	Rows []Row // within the floors, and asymmetric

	// NLL is −ln p(y|f) of the targets of the row, the score of outputs f that are
	// numbers. Expected says that Row returns its mean over f, rather than −ln of the
	// mean of e^−NLL.
	NLL      func(r Row, f []float64) float64
	Expected bool

	// Target returns the mean and variance of target i of the row for outputs f. A
	// likelihood.Predictive needs it.
	Target func(r Row, i int, f []float64) (mean, variance float64)

	// Kinks, if set, returns the values of output i where NLL or Target jumps or
	// changes its slope. f holds the outputs before i. Outputs without kinks must be
	// smooth on the scale of their standard deviation, unless only one output of the
	// row varies.
	Kinks func(r Row, i int, f []float64) []float64

	// Tolerance is the largest relative error of a score or a predicted mean; a
	// Score of Predictive may be wrong by 100 times as much, a predicted variance
	// by 10 times. 0 means 1e-9.
	Tolerance float64

	// Split is the part of every variance that is the spread of the outputs, if the
	// rest is noise inside NLL; 0 means 1: all of it.
	Split float64

	// Floored are rows out of bounds, with the number of moments that are out of
	// bounds.
	Floored []Row
	Bites   []int

	// Bad are rows with impossible targets: they must score NaN.
	Bad []Row
}

// Check checks a likelihood: its value against numerical integration of its
// definition; gradients against finite differences; the predictions and scores of a
// likelihood.Predictive against integration; the number of floored moments; that no
// float32 input makes it infinite; and that a model file can hold it: fields that JSON
// does not see are lost.
func Check(t *testing.T, l likelihood.Likelihood, c Case) {
	t.Helper()
	for _, part := range suite(l, c) {
		t.Run(part.name, func(t *testing.T) { part.run(t) })
	}
}

// A part is one check of the suite.
type part struct {
	name string
	run  func(t testing.TB)
}

func suite(l likelihood.Likelihood, c Case) []part {
	if c.Split == 0 {
		c.Split = 1
	}
	if c.Tolerance == 0 {
		c.Tolerance = 1e-9
	}
	return []part{
		{"targets", func(t testing.TB) { targets(t, l, c) }},
		{"value", func(t testing.TB) { value(t, l, c) }},
		{"gradients", func(t testing.TB) { gradients(t, l, c) }},
		{"predictive", func(t testing.TB) { predictive(t, l, c) }},
		{"stored", func(t testing.TB) { stored(t, l) }},
		{"split", func(t testing.TB) { split(t, l, c) }},
		{"floor", func(t testing.TB) { floors(t, l, c) }},
		{"extremes", func(t testing.TB) { extremes(t, l, c) }},
	}
}

// stored writes the likelihood as JSON and reads it back.
func stored(t testing.TB, l likelihood.Likelihood) {
	text, err := codec.MarshalLikelihood(l)
	if err != nil {
		t.Fatal(err)
	}
	lib := codec.Likelihoods{}
	if err := lib.Add(reflect.New(reflect.TypeOf(l)).Elem().Interface().(likelihood.Likelihood)); err != nil {
		lib = nil // it is one of the library's own
	}
	again, err := codec.UnmarshalLikelihood(text, lib)
	if err != nil || !reflect.DeepEqual(l, again) {
		t.Errorf("%#v was stored as %s and came back as %#v (%v)", l, text, again, err)
	}
}

// split compares doubt and noise with what is predicted.
func split(t testing.TB, l likelihood.Likelihood, c Case) {
	p, numbers := l.(likelihood.Predictive)
	s, splits := l.(likelihood.Splitter)
	if !numbers || !splits {
		return
	}
	for _, r := range c.Rows {
		n, k := len(r.Mean), len(r.Y)
		mean, variance := make([]float32, n), make([]float32, n)
		for i := range mean {
			mean[i], variance[i] = float32(r.Mean[i]), float32(r.Var[i])
		}
		m := make([]float32, k)
		doubt := make([]float32, k)
		noise := make([]float32, k)
		for i := range m {
			m[i] = -1
			doubt[i] = -1
			noise[i] = -1 // every one must be written
		}
		s.Split(mean, variance, m, doubt, noise)
		ymean, yvar := make([]float64, k), make([]float64, k)
		p.Predict(r.Mean, r.Var, ymean, yvar)
		for i := range m {
			sum := float64(doubt[i]) + float64(noise[i])
			if !(doubt[i] >= 0 && noise[i] >= 0) || math.Abs(sum-yvar[i]) > 1e-5*yvar[i] || math.Abs(float64(m[i])-ymean[i]) > 1e-5*(math.Abs(ymean[i])+math.Sqrt(yvar[i])) {
				t.Errorf("row %v: target %d is split into %v ± (%v + %v), predicted as %v ± %v", r, i, m[i], doubt[i], noise[i], ymean[i], yvar[i])
			}
		}
	}
}

func score(l likelihood.Likelihood, r Row) (nll float64, dmean, dvar []float64, floored int) {
	dmean, dvar = make([]float64, len(r.Mean)), make([]float64, len(r.Mean))
	for i := range dmean {
		dmean[i], dvar[i] = math.NaN(), math.NaN() // every one must be written
	}
	nll, floored = l.Row(r.Y, r.Mean, r.Var, dmean, dvar)
	return nll, dmean, dvar, floored
}

func targets(t testing.TB, l likelihood.Likelihood, c Case) {
	r := c.Rows[0]
	if n, err := l.Targets(len(r.Mean)); err != nil || n != len(r.Y) {
		t.Errorf("%d outputs have %d targets (%v), want %d", len(r.Mean), n, err, len(r.Y))
	}
	if _, err := l.Targets(0); err == nil {
		t.Error("a network without outputs was accepted")
	}
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
func (c Case) predicted(t testing.TB, r Row) float64 {
	t.Helper()
	return -math.Log(c.expect(t, r, c.spread(r), func(f []float64) float64 { return math.Exp(-c.NLL(r, f)) }))
}

// near reports whether got is want within a relative error; NaN is near nothing.
func near(got, want, tolerance float64) bool {
	return math.Abs(got-want) <= tolerance*(1+math.Abs(want))
}

func value(t testing.TB, l likelihood.Likelihood, c Case) {
	for _, r := range c.Rows {
		got, _, _, floored := score(l, r)
		var want float64
		if c.Expected {
			want = c.expect(t, r, r.Var, func(f []float64) float64 { return c.NLL(r, f) })
		} else {
			want = c.predicted(t, r)
		}
		if !near(got, want, c.Tolerance) || floored != 0 {
			t.Errorf("%+v: %v (%d floored), by integration %v", r, got, floored, want)
		}
	}
}

func gradients(t testing.TB, l likelihood.Likelihood, c Case) {
	for _, r := range c.Rows {
		_, dmean, dvar, _ := score(l, r)
		check := func(what string, x []float64, d []float64, lowest float64) {
			for i := range x {
				if want := difference(l, r, &x[i], lowest); !near(d[i], want, 1e-6) {
					t.Errorf("%+v: ∂/∂%s %d is %v, by differences %v", r, what, i, d[i], want)
				}
			}
		}
		check("mean", r.Mean, dmean, math.Inf(-1))
		check("variance", r.Var, dvar, 0)
	}
}

// difference is the slope of a row's score by x, a moment of the row, without
// going below lowest.
func difference(l likelihood.Likelihood, r Row, x *float64, lowest float64) float64 {
	x0 := *x
	defer func() { *x = x0 }()
	at := func(d float64) float64 {
		*x = x0 + d
		nll, _, _, _ := score(l, r)
		return nll
	}
	h := 1e-5 * (1e-2 + math.Abs(x0))
	if x0-h < lowest {
		return (4*at(h) - at(2*h) - 3*at(0)) / (2 * h)
	}
	return (at(h) - at(-h)) / (2 * h)
}

func predictive(t testing.TB, l likelihood.Likelihood, c Case) {
	p, ok := l.(likelihood.Predictive)
	switch {
	case !ok && c.Target != nil:
		t.Fatal("a Target is given, but the likelihood is not Predictive")
	case !ok:
		return
	case c.Target == nil:
		t.Fatal("the likelihood is Predictive: the case needs a Target")
	}
	for _, r := range c.Rows {
		if got, want := p.Score(r.Y, r.Mean, r.Var), c.predicted(t, r); !near(got, want, 100*c.Tolerance) {
			t.Errorf("%+v: score %v, by integration %v", r, got, want)
		}
		ymean, yvar := make([]float64, len(r.Y)), make([]float64, len(r.Y))
		p.Predict(r.Mean, r.Var, ymean, yvar)
		for i := range r.Y {
			v := c.spread(r)
			mean := c.expect(t, r, v, func(f []float64) float64 { m, _ := c.Target(r, i, f); return m })
			variance := c.expect(t, r, v, func(f []float64) float64 {
				m, v := c.Target(r, i, f)
				return v + (m-mean)*(m-mean)
			})
			if !near(ymean[i], mean, c.Tolerance) || !near(yvar[i], variance, 10*c.Tolerance) {
				t.Errorf("%+v: target %d is predicted %v ± %v, by integration %v ± %v", r, i, ymean[i], yvar[i], mean, variance)
			}
		}
	}
}

func floors(t testing.TB, l likelihood.Likelihood, c Case) {
	for k, r := range c.Floored {
		nll, dmean, dvar, floored := score(l, r)
		if floored != c.Bites[k] || !finite(nll) || !finite(dmean...) || !finite(dvar...) {
			t.Errorf("%+v: %d floored, want %d; score %v, gradients %v %v", r, floored, c.Bites[k], nll, dmean, dvar)
		}
	}
	for _, r := range c.Bad {
		if nll, _, _, _ := score(l, r); !math.IsNaN(nll) {
			t.Errorf("%+v scores %v; want NaN", r, nll)
		}
	}
}

func extremes(t testing.TB, l likelihood.Likelihood, c Case) {
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
