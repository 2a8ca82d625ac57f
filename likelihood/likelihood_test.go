package likelihood_test

import (
	"fmt"
	"math"
	"testing"

	"utvi/likelihood"
	"utvi/likelihood/likelihoodtest"
)

type vec = []float64

func row(y, mean, variance vec) likelihoodtest.Row {
	return likelihoodtest.Row{Y: y, Mean: mean, Var: variance}
}

// nlog is −ln N(e; 0, v).
func nlog(e, v float64) float64 { return 0.5 * (math.Log(2*math.Pi*v) + e*e/v) }

func TestNormal(t *testing.T) {
	// Half of the variance is the outputs' spread, half is noise.
	noise := func(r likelihoodtest.Row, i int) float64 { return r.Var[i] / 2 }
	likelihoodtest.Check(t, likelihood.Normal{}, likelihoodtest.Case{
		Rows: []likelihoodtest.Row{
			row(vec{0.3, -2}, vec{0.5, -1.1}, vec{0.2, 0.9}),
			row(vec{1.3, 2}, vec{-0.5, 1.8}, vec{3, 0.05})},
		Split: 0.5,
		NLL: func(r likelihoodtest.Row, f []float64) float64 {
			return nlog(r.Y[0]-f[0], noise(r, 0)) + nlog(r.Y[1]-f[1], noise(r, 1))
		},
		Target: func(r likelihoodtest.Row, i int, f []float64) (float64, float64) { return f[i], noise(r, i) },
		Floored: []likelihoodtest.Row{
			row(vec{1, 2}, vec{1, 2.5}, vec{0, 1e-7}), row(vec{1, 2}, vec{1, 2.5}, vec{0.1, 1e-7})},
		Bites: []int{2, 1},
	})
}

func TestExpectedNormal(t *testing.T) {
	const noise = 0.4
	likelihoodtest.Check(t, likelihood.ExpectedNormal{Std: noise}, likelihoodtest.Case{
		Rows: []likelihoodtest.Row{
			row(vec{0.3, -2}, vec{0.5, -1.1}, vec{0.2, 0.9}),
			row(vec{1, 0.2}, vec{1, 0}, vec{0, 3})},
		Expected: true,
		NLL: func(r likelihoodtest.Row, f []float64) float64 {
			return nlog(r.Y[0]-f[0], noise*noise) + nlog(r.Y[1]-f[1], noise*noise)
		},
		Target: func(_ likelihoodtest.Row, i int, f []float64) (float64, float64) { return f[i], noise * noise },
	})
	for _, bad := range []float64{0, -1, math.NaN(), math.Inf(1), 1e200} {
		if _, err := (likelihood.ExpectedNormal{Std: bad}).Targets(1); err == nil {
			t.Errorf("a noise of %v was accepted", bad)
		}
	}
}

func TestHeteroscedastic(t *testing.T) {
	l := likelihood.Heteroscedastic{}
	one := func(y, f, ell float64) float64 { return nlog(y-f, math.Exp(ell)) }
	likelihoodtest.Check(t, l, likelihoodtest.Case{
		Rows: []likelihoodtest.Row{
			row(vec{0.3}, vec{0.5, -1.2}, vec{0.2, 0.35}),
			row(vec{-1}, vec{2, 0.7}, vec{1.5, 1.1}),
			row(vec{-1}, vec{2, 0.7}, vec{0, 0})},
		Expected: true,
		NLL:      func(r likelihoodtest.Row, f []float64) float64 { return one(r.Y[0], f[0], f[1]) },
		Target:   func(_ likelihoodtest.Row, _ int, f []float64) (float64, float64) { return f[0], math.Exp(f[1]) },
		Floored:  []likelihoodtest.Row{row(vec{1}, vec{2, -20}, vec{0.1, 0.2})},
		Bites:    []int{1},
	})
	// Values first, then log-variances.
	likelihoodtest.Check(t, l, likelihoodtest.Case{
		Rows:     []likelihoodtest.Row{row(vec{0.3, 4}, vec{0.5, 3.1, -1.2, 0.4}, vec{0.2, 0.1, 0.35, 0.2})},
		Expected: true,
		NLL: func(r likelihoodtest.Row, f []float64) float64 {
			return one(r.Y[0], f[0], f[2]) + one(r.Y[1], f[1], f[3])
		},
		Target:  func(_ likelihoodtest.Row, i int, f []float64) (float64, float64) { return f[i], math.Exp(f[2+i]) },
		Floored: []likelihoodtest.Row{row(vec{1, 1}, vec{2, 2, -20, -30}, vec{0.1, 0.2, 0, 80})},
		Bites:   []int{2},
	})
	if _, err := l.Targets(3); err == nil {
		t.Error("three outputs were accepted")
	}
}

// The score of a row is shared between its own noise and the common one. The last
// outputs, numbers, are the logarithms of the common variances.
func TestHeteroscedasticCommon(t *testing.T) {
	const c = 0.4
	l := likelihood.Heteroscedastic{Common: c}
	for _, r := range commonRows() {
		got, _ := l.Row(r.Y, r.Mean, r.Var, make(vec, 6), make(vec, 6))
		own, _ := likelihood.Heteroscedastic{}.Row(r.Y, r.Mean[:4], r.Var[:4], make(vec, 4), make(vec, 4))
		want := (1 - c) * own
		for i, y := range r.Y {
			common, _ := likelihood.ExpectedNormal{Std: math.Exp(r.Mean[4+i] / 2)}.Row(vec{y}, r.Mean[i:i+1], r.Var[i:i+1], make(vec, 1), make(vec, 1))
			want += c * common
		}
		if math.Abs(got-want) > 1e-12 {
			t.Errorf("the score is %v, its parts %v", got, want)
		}
		slopes(t, l, r)
	}
	for _, bad := range []float64{-0.1, 1, math.NaN()} {
		if _, err := (likelihood.Heteroscedastic{Common: bad}).Targets(3); err == nil {
			t.Errorf("a share of %v was accepted", bad)
		}
	}
	if _, err := l.Targets(2); err == nil {
		t.Error("two outputs were accepted")
	}
}

// commonRows are rows of two targets with common noises.
func commonRows() []likelihoodtest.Row {
	return []likelihoodtest.Row{
		row(vec{0.3, 4}, vec{0.5, 3.1, -1.2, 0.4, -0.3, 1.1}, vec{0.2, 0.1, 0.35, 0.2, 0, 0}),
		row(vec{1, -2}, vec{0, -2.1, 2, -3, -1, -2}, vec{0, 0.5, 0, 0.1, 0, 0}),
	}
}

// slopes compares the gradients of a row with finite differences. Variances of common noises, numbers,
// are not read.
func slopes(t *testing.T, l likelihood.Likelihood, r likelihoodtest.Row) {
	t.Helper()
	n := len(r.Mean)
	g, v := make(vec, n), make(vec, n)
	l.Row(r.Y, r.Mean, r.Var, g, v)
	slope := func(x []float64, i int) float64 {
		const h = 1e-5
		at := x[i]
		x[i] = at + h
		up, _ := l.Row(r.Y, r.Mean, r.Var, make(vec, n), make(vec, n))
		x[i] = at - h
		down, _ := l.Row(r.Y, r.Mean, r.Var, make(vec, n), make(vec, n))
		x[i] = at
		return (up - down) / (2 * h)
	}
	for i := range n {
		if want := slope(r.Mean, i); math.Abs(g[i]-want) > 1e-7*(1+math.Abs(want)) {
			t.Errorf("%v: the gradient by mean %d is %v, want %v", l, i, g[i], want)
		}
		if want := slope(r.Var, i); i < 2*len(r.Y) && math.Abs(v[i]-want) > 1e-7*(1+math.Abs(want)) {
			t.Errorf("%v: the gradient by variance %d is %v, want %v", l, i, v[i], want)
		}
	}
}

// With uncertain inputs the predicted Normal is scored as a whole: what inputs add to the variance is
// in the error, too, and is no doubt.
func TestHeteroscedasticTotal(t *testing.T) {
	for _, r := range commonRows() {
		l := likelihood.Heteroscedastic{Total: true}
		r2 := row(r.Y, r.Mean[:4], r.Var[:4])
		got, _ := l.Row(r2.Y, r2.Mean, r2.Var, make(vec, 4), make(vec, 4))
		var want float64
		mean, variance := make(vec, 2), make(vec, 2)
		l.Predict(r2.Mean, r2.Var, mean, variance)
		for i, y := range r.Y {
			want += nlog(mean[i]-y, variance[i])
		}
		if math.Abs(got-want) > 1e-12 {
			t.Errorf("the score is %v, that of the predictions %v", got, want)
		}
		slopes(t, l, r2)
		slopes(t, likelihood.Heteroscedastic{Total: true, Common: 0.4}, r)
	}
	// Below the floor nothing lowers the variance; far above, nothing overflows.
	l := likelihood.Heteroscedastic{Total: true, Floor: 0.01}
	for _, c := range []struct {
		r       likelihoodtest.Row
		floored int
		lowers  bool
	}{
		{row(vec{1}, vec{1, -20}, vec{0.001, 0}), 1, false},
		{row(vec{1}, vec{3, -20}, vec{0.001, 0}), 1, true}, // towards more
		{row(vec{1}, vec{3, 5000}, vec{1, 1000}), 0, false},
	} {
		g, v := make(vec, 2), make(vec, 2)
		nll, floored := l.Row(c.r.Y, c.r.Mean, c.r.Var, g, v)
		if floored != c.floored || math.IsNaN(nll+g[0]+g[1]+v[0]+v[1]) || math.IsInf(nll, 0) || (g[1] < 0) != c.lowers {
			t.Errorf("%v: %v, %d floored, gradients %v and %v", c.r, nll, floored, g, v)
		}
	}
}

// A trainer asks for it by what the rows are.
func TestForUncertainInputs(t *testing.T) {
	for _, c := range [][2]likelihood.Likelihood{
		{likelihood.Normal{}, likelihood.Normal{}},
		{likelihood.Heteroscedastic{Common: 0.2}, likelihood.Heteroscedastic{Common: 0.2, Total: true}},
		{likelihood.Weighted{Of: likelihood.Heteroscedastic{}}, likelihood.Weighted{Of: likelihood.Heteroscedastic{Total: true}}},
	} {
		if got := likelihood.ForUncertainInputs(c[0]); got != c[1] {
			t.Errorf("%v becomes %v, want %v", c[0], got, c[1])
		}
	}
}

// Predicted noise stays in the range that training showed.
func TestHeteroscedasticBounds(t *testing.T) {
	l := likelihood.Heteroscedastic{Range: &likelihood.NoiseRange{Least: vec{0.1}, Most: vec{3}}}
	for _, c := range []struct{ ell, want float64 }{{-9, 0.1}, {0, 1}, {40, 3}, {1000, 3}} {
		var m, v, n [1]float32
		l.Split([]float32{7, float32(c.ell)}, []float32{0.5, 0}, m[:], v[:], n[:])
		var y, total [1]float64
		l.Predict(vec{7, c.ell}, vec{0.5, 0}, y[:], total[:])
		if math.Abs(float64(n[0])-c.want) > 1e-6 || math.Abs(total[0]-0.5-c.want) > 1e-6 {
			t.Errorf("ln noise %v: noise %v, variance %v; want a noise of %v", c.ell, n[0], total[0], c.want)
		}
	}
	for _, bad := range []likelihood.NoiseRange{{Least: vec{1, 2}, Most: vec{3, 4}}, {Least: vec{1}, Most: vec{0}}, {Least: vec{math.NaN()}, Most: vec{1}}} {
		if _, err := (likelihood.Heteroscedastic{Range: &bad}).Targets(2); err == nil {
			t.Errorf("%+v was accepted for one target", bad)
		}
	}
}

func TestCategorical(t *testing.T) {
	likelihoodtest.Check(t, likelihood.Categorical{}, likelihoodtest.Case{
		Rows: []likelihoodtest.Row{
			row(vec{1}, vec{0.2, 0.7, 0.1}, vec{0.01, 0.002, 0}), // p > 0 within 9 σ
			row(vec{2}, vec{0.2, 0.7, 0.1}, vec{0, 0, 0})},
		NLL:     func(r likelihoodtest.Row, f []float64) float64 { return -math.Log(f[int(r.Y[0])]) },
		Floored: []likelihoodtest.Row{row(vec{0}, vec{0, 1}, vec{0, 0}), row(vec{1}, vec{1, -0.1}, vec{0, 0})},
		Bites:   []int{1, 1},
		Bad: []likelihoodtest.Row{
			row(vec{3}, vec{0.2, 0.7, 0.1}, vec{0, 0, 0}), row(vec{0.5}, vec{0.5, 0.5}, vec{0, 0}),
			row(vec{-1}, vec{0.5, 0.5}, vec{0, 0}), row(vec{math.NaN()}, vec{0.5, 0.5}, vec{0, 0})},
	})
}

// Below the floor the score is the tangent: value and slope fit together, at the
// floor and beyond.
func TestTangentBelowTheFloor(t *testing.T) {
	const floor = 0.01
	at := func(p float64) (nll, slope float64) {
		d := make(vec, 2)
		nll, _ = likelihood.Categorical{Floor: floor}.Row(vec{1}, vec{1 - p, p}, vec{0, 0}, d, make(vec, 2))
		return nll, d[1]
	}
	edge, _ := at(floor)
	for _, p := range []float64{0.009, 0, -0.5} {
		nll, slope := at(p)
		if want := edge + slope*(p-floor); math.Abs(nll-want) > 1e-12 || slope != -1/floor {
			t.Errorf("p = %v scores %v with slope %v; the tangent gives %v with %v", p, nll, slope, want, -1/floor)
		}
	}
}

func TestBernoulli(t *testing.T) {
	likelihoodtest.Check(t, likelihood.Bernoulli{}, likelihoodtest.Case{
		// One certain yes, one certain no; small spreads keep p within [0, 1].
		Rows: []likelihoodtest.Row{
			row(vec{1, 0}, vec{0.3, 0.45}, vec{1e-4, 2e-4}),
			row(vec{0, 1}, vec{0.9, 0.8}, vec{0, 1e-5})},
		NLL: func(r likelihoodtest.Row, f []float64) float64 {
			return -math.Log(r.Y[0]*f[0]+(1-r.Y[0])*(1-f[0])) - math.Log(r.Y[1]*f[1]+(1-r.Y[1])*(1-f[1]))
		},
		Target: func(_ likelihoodtest.Row, i int, f []float64) (float64, float64) { return f[i], f[i] * (1 - f[i]) },
		Floored: []likelihoodtest.Row{
			row(vec{1, 0}, vec{0, 1}, vec{0, 0}), row(vec{1, 0}, vec{1, 0}, vec{0, 0})},
		Bites: []int{2, 0},
		Bad:   []likelihoodtest.Row{row(vec{2, 0}, vec{0.5, 0.5}, vec{0, 0}), row(vec{0, math.NaN()}, vec{0.5, 0.5}, vec{0, 0})},
	})
}

// Below the floor a variance is only ever asked to rise: its gradient is kept where
// the residual is large and 0 where it is small.
func TestGradientBelowTheFloor(t *testing.T) {
	d, dv := make(vec, 2), make(vec, 2)
	for _, c := range []struct {
		e    float64 // residual, in standard deviations of the floor
		want float64
	}{{0, 0}, {0.9, 0}, {2, 0.5 / 1e-6 * (1 - 4)}} {
		likelihood.Normal{}.Row(vec{0}, vec{c.e * 1e-3}, vec{1e-8}, d, dv)
		if math.Abs(dv[0]-c.want) > 1e-9*math.Abs(c.want) {
			t.Errorf("normal, residual %v: gradient %v, want %v", c.e, dv[0], c.want)
		}
	}
	if _, floored := (likelihood.Normal{Floor: 0.5}).Row(vec{0}, vec{0}, vec{0.5}, d, dv); floored != 0 || dv[0] != 1 {
		t.Errorf("at the floor: gradient %v, %d floored", dv[0], floored)
	}
	l := likelihood.Heteroscedastic{Floor: 0.01}
	for _, c := range []struct{ e, want float64 }{{0, 0}, {0.9, 0}, {2, 0.5 * (1 - 4)}} {
		_, floored := l.Row(vec{0}, vec{c.e * 0.1, -9}, vec{0, 0}, d, dv)
		if math.Abs(d[1]-c.want) > 1e-12 || floored != 1 {
			t.Errorf("heteroscedastic, residual %v: gradient %v, want %v; %d floored", c.e, d[1], c.want, floored)
		}
	}
}

// Names are what a file and a message say.
func TestNames(t *testing.T) {
	for want, l := range map[string]likelihood.Likelihood{
		"normal": likelihood.Normal{}, "expected normal, noise 0.4": likelihood.ExpectedNormal{Std: 0.4},
		"heteroscedastic": likelihood.Heteroscedastic{}, "categorical, floor 0.01": likelihood.Categorical{Floor: 0.01},
		"bernoulli": likelihood.Bernoulli{}, "poisson": likelihood.Poisson{}, "weighted normal": likelihood.Weighted{Of: likelihood.Normal{}},
	} {
		if l.String() != want {
			t.Errorf("%q, want %q", l, want)
		}
	}
	for l, want := range map[likelihood.Likelihood]bool{
		likelihood.Normal{}: true, likelihood.ExpectedNormal{}: false, likelihood.Heteroscedastic{}: false,
		likelihood.Categorical{}: false, likelihood.Bernoulli{}: false, likelihood.Poisson{}: false,
		likelihood.Weighted{Of: likelihood.Normal{}}: true, likelihood.Weighted{Of: likelihood.Poisson{}}: false,
	} {
		if l.NeedsVariance() != want {
			t.Errorf("%v needs a variance: %v", l, l.NeedsVariance())
		}
	}
}

// A floor is a bound or the default, and part of the name.
func TestFloors(t *testing.T) {
	for want, l := range map[string]likelihood.Likelihood{
		"likelihood normal: the floor is -1; it must be a number > 0, at most 1.8e+308, or 0 for the default":           likelihood.Normal{Floor: -1},
		"likelihood heteroscedastic: the floor is NaN; it must be a number > 0, at most 1.8e+308, or 0 for the default": likelihood.Heteroscedastic{Floor: math.NaN()},
		"likelihood categorical: the floor is 0.6; it must be a number > 0, at most 0.5, or 0 for the default":          likelihood.Categorical{Floor: 0.6},
		"likelihood bernoulli: the floor is -1e-09; it must be a number > 0, at most 0.5, or 0 for the default":         likelihood.Bernoulli{Floor: -1e-9},
	} {
		if _, err := l.Targets(2); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	l := likelihood.Normal{Floor: 1e-3}
	if n, err := l.Targets(2); err != nil || n != 2 || l.String() != "normal, floor 0.001" {
		t.Errorf("%v has %d targets: %v", l, n, err)
	}
}

func TestPoisson(t *testing.T) {
	one := func(y, l float64) float64 {
		g, _ := math.Lgamma(y + 1)
		return math.Exp(l) - y*l + g
	}
	likelihoodtest.Check(t, likelihood.Poisson{}, likelihoodtest.Case{
		Rows: []likelihoodtest.Row{
			row(vec{3, 0}, vec{0.5, -1.2}, vec{0.2, 0.6}),
			row(vec{12, 1}, vec{2.2, 0}, vec{0, 0.1})},
		Expected: true,
		NLL:      func(r likelihoodtest.Row, f []float64) float64 { return one(r.Y[0], f[0]) + one(r.Y[1], f[1]) },
		Target: func(_ likelihoodtest.Row, i int, f []float64) (float64, float64) {
			return math.Exp(f[i]), math.Exp(f[i])
		},
		Floored: []likelihoodtest.Row{row(vec{3, 0}, vec{31, 29}, vec{0, 4}), row(vec{3, 0}, vec{31, 2}, vec{0, 4})},
		Bites:   []int{2, 1},
		Bad:     []likelihoodtest.Row{row(vec{-1, 0}, vec{0, 0}, vec{0, 0})},
	})
}

// Beyond the largest rate the score goes on along its tangent.
func TestPoissonBeyondTheBound(t *testing.T) {
	at := func(m, v float64) (nll, slope float64, floored int) {
		d, dv := make(vec, 1), make(vec, 1)
		nll, floored = likelihood.Poisson{}.Row(vec{2}, vec{m}, vec{v}, d, dv)
		if dv[0] != (d[0]+2)/2 {
			t.Errorf("slopes %v and %v", d, dv)
		}
		return nll, d[0], floored
	}
	edge, slope, n := at(30, 0)
	if n != 0 {
		t.Errorf("%d floored at the bound", n)
	}
	for _, c := range [][2]float64{{30.5, 0}, {32, 0}, {31, 2}, {20, 30}} {
		x := c[0] + c[1]/2
		nll, s, n := at(c[0], c[1])
		if want := edge + (slope+2)*(x-30) - 2*(c[0]-30); math.Abs(nll-want) > 1e-9*want || s != slope || n != 1 {
			t.Errorf("N(%v, %v) scores %v with slope %v, %d floored; the tangent gives %v with %v", c[0], c[1], nll, s, n, want, slope)
		}
	}
}

func ExampleHeteroscedastic() {
	// One target: its value 2 ± 0.5, and the logarithm of its noise variance.
	mean, variance := []float64{2, math.Log(0.09)}, []float64{0.25, 0.1}
	var l likelihood.Heteroscedastic
	var y, v [1]float64
	l.Predict(mean, variance, y[:], v[:])
	fmt.Printf("%.2f ± %.2f\n", y[0], math.Sqrt(v[0]))
	// Output: 2.00 ± 0.59
}

func ExampleCategorical() {
	var l likelihood.Categorical
	dmean, dvar := make([]float64, 3), make([]float64, 3)
	nll, _ := l.Row([]float64{2}, []float64{0.1, 0.4, 0.5}, make([]float64, 3), dmean, dvar)
	fmt.Printf("%.3f nats, slopes %v\n", nll, dmean)
	// Output: 0.693 nats, slopes [0 0 -2]
}

func ExampleExpectedNormal() {
	l := likelihood.ExpectedNormal{Std: 0.3}
	var y, v [1]float64
	l.Predict(vec{2}, vec{0.16}, y[:], v[:])
	fmt.Printf("%.1f ± %.1f\n", y[0], math.Sqrt(v[0]))
	// Output: 2.0 ± 0.5
}

func ExamplePoisson() {
	var l likelihood.Poisson // the output is the logarithm of the rate
	var y, v [1]float64
	l.Predict(vec{math.Log(4)}, vec{0}, y[:], v[:])
	fmt.Printf("%.1f ± %.1f\n", y[0], math.Sqrt(v[0]))
	// Output: 4.0 ± 2.0
}

func ExampleBernoulli() {
	var l likelihood.Bernoulli
	fmt.Printf("%.3f nats\n", l.Score(vec{1}, vec{0.25}, vec{0}))
	// Output: 1.386 nats
}
