// Package momenttest is the conformance suite of rules and nonlinearities: the test of
// a new one calls Pair, one line for each pair.
package momenttest

import (
	"math"
	"testing"
	"utvi/internal/compute/kernel"
	"utvi/internal/quad"
	"utvi/internal/special"
	"utvi/moment"
	"utvi/rng"
)

var key = rng.New(42)

// Pair checks a rule on a function: derivatives in float64 against finite
// differences, moments against what defines the rule, the limits of vanishing
// variance, float32 against float64, and allocations. Nothing else defines a rule of
// moment.ByOwnFormula, so its moments are compared in the limits only.
func Pair(t *testing.T, f *moment.Func, r moment.Rule) {
	t.Helper()
	if err := r.Check(f); err != nil {
		t.Fatal(err)
	}
	t.Run("derivatives", func(t *testing.T) { derivatives(t, f, r) })
	if r.Nodes().Method != moment.ByOwnFormula {
		t.Run("definition", func(t *testing.T) { definition(t, f, r) })
	}
	t.Run("zero variance", func(t *testing.T) { zeroVariance(t, f, r) })
	if !moment.Draws(r) {
		t.Run("vanishing variance", func(t *testing.T) { vanishingVariance(t, f, r) })
	}
	t.Run("float32", func(t *testing.T) { single(t, f, r) })
	if f.Formula != nil && f.Formula.Learned > 0 {
		t.Run("parameters", func(t *testing.T) { parameters(t, f, r) })
		t.Run("parameters' allocations", func(t *testing.T) { paramAllocations(t, f, r) })
	}
	t.Run("allocations", func(t *testing.T) { allocations(t, f, r) })
}

// cases are asymmetric on purpose.
var cases = []struct{ m, v float64 }{
	{0.3, 0.5}, {-0.7, 0.2}, {1.9, 1.3}, {-2.6, 0.9}, {0.05, 2.1}, {-4.2, 0.04}, {3.3, 0.007},
}

func at(t testing.TB, f *moment.Func, r moment.Rule, m, v float64) moment.Jet {
	t.Helper()
	j, err := moment.At(f, r, m, v, key)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// points returns the points of the rule; a learned κ may have moved them.
func points(r moment.Rule, m, v float64) (x, w []float64) { return moment.PointsAt(r, m, v, key) }

// nearKink reports whether a finite difference around (m, v) would see a point
// cross a kink.
func nearKink(f *moment.Func, r moment.Rule, m, v float64) bool {
	x, _ := points(r, m, v)
	for _, x := range x {
		for _, k := range f.Kinks {
			if math.Abs(x-k) < 0.01 {
				return true
			}
		}
	}
	return false
}

func derivatives(t testing.TB, f *moment.Func, r moment.Rule) {
	for _, c := range cases {
		if nearKink(f, r, c.m, c.v) {
			continue
		}
		j := at(t, f, r, c.m, c.v)
		h := 1e-3 * math.Min(1, math.Sqrt(c.v))
		byMean := slope(func(d float64) moment.Jet { return at(t, f, r, c.m+d, c.v) }, h)
		hv := 1e-3 * c.v
		byVar := slope(func(d float64) moment.Jet { return at(t, f, r, c.m, c.v+d) }, hv)
		// What rounding alone does to a difference.
		round := 1e-15 * (math.Abs(j.Mean) + math.Abs(f.F(c.m)))
		roundVar := 2 * round * (math.Sqrt(j.Var) + round)
		bend := 0.0 // error of ∂var/∂m
		if r.String() == "linear" {
			// The variance is f'²v, its derivative 2f'f"v.
			slope, curvature := rounding(f, c.m)
			roundVar += 2 * math.Abs(j.MeanByMean) * slope * c.v
			bend = 2 * math.Abs(j.MeanByMean) * curvature * c.v
		}
		scale := 1e-9 * (math.Abs(j.MeanByMean) + math.Abs(j.VarByVar))
		near(t, "∂mean/∂m", c.m, c.v, j.MeanByMean, byMean.Mean, scale+round/h)
		near(t, "∂var/∂m", c.m, c.v, j.VarByMean, byMean.Var, scale+roundVar/h+bend)
		near(t, "∂mean/∂v", c.m, c.v, j.MeanByVar, byVar.Mean, scale+round/hv)
		near(t, "∂var/∂v", c.m, c.v, j.VarByVar, byVar.Var, scale+roundVar/hv)
	}
}

// rounding bounds what rounding does to f.Slope(x) and f.Curvature(x) where they are
// differences of values; see there for their steps.
func rounding(f *moment.Func, x float64) (slope, curvature float64) {
	if f.DF != nil {
		return 0, 0
	}
	unit := 0x1p-51 * (math.Abs(f.F(x)) + math.Abs(x*f.Slope(x)))
	h := 1 + math.Abs(x)
	return unit / (6.1e-6 * h), 2 * unit / (1.2e-4 * h * 1.2e-4 * h)
}

// slope is a sixth-order difference of the moments.
func slope(at func(d float64) moment.Jet, h float64) moment.Jet {
	var d moment.Jet
	for k, w := range []float64{45, -9, 1} {
		p, q := at(float64(k+1)*h), at(-float64(k+1)*h)
		d.Mean += w * (p.Mean - q.Mean) / (60 * h)
		d.Var += w * (p.Var - q.Var) / (60 * h)
	}
	return d
}

// near allows 1e-6 relative and slack, for a derivative that passes through zero.
func near(t testing.TB, what string, m, v, got, want, slack float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-6*math.Abs(want)+slack) {
		t.Errorf("%s at N(%v, %v): %v, finite differences give %v", what, m, v, got, want)
	}
}

// definition: point rules are their sums, draws lie within 5 standard errors of the
// truth, and the exact rule agrees with quadrature.
func definition(t testing.TB, f *moment.Func, r moment.Rule) {
	for _, c := range cases {
		j := at(t, f, r, c.m, c.v)
		x, w := points(r, c.m, c.v)
		switch {
		case r.String() == "linear":
			d := f.Slope(c.m)
			within(t, c.m, c.v, j, f.F(c.m), d*d*c.v, 1e-14)
		case len(x) == 0:
			mean, variance, err := quad.Moments(f, c.m, c.v)
			if err != nil {
				t.Fatal(err)
			}
			within(t, c.m, c.v, j, mean, variance, 1e-9)
		default:
			var mean, variance float64
			for k := range x {
				mean += w[k] * f.F(x[k])
			}
			for k := range x {
				d := f.F(x[k]) - mean
				variance += w[k] * d * d
			}
			if moment.Draws(r) {
				variance *= float64(len(x)) / float64(len(x)-1)
				draws(t, f, c.m, c.v)
			}
			within(t, c.m, c.v, j, mean, variance, 1e-12)
		}
	}
}

func within(t testing.TB, m, v float64, j moment.Jet, mean, variance, tol float64) {
	t.Helper()
	if !(math.Abs(j.Mean-mean) <= tol*(math.Abs(mean)+math.Sqrt(variance))) {
		t.Errorf("mean at N(%v, %v): %v, want %v", m, v, j.Mean, mean)
	}
	if !(math.Abs(j.Var-variance) <= tol*(variance+1e-3*v)) {
		t.Errorf("variance at N(%v, %v): %v, want %v", m, v, j.Var, variance)
	}
}

// draws checks 20,000 samples against quadrature.
func draws(t testing.TB, f *moment.Func, m, v float64) {
	t.Helper()
	const n = 20000
	mean, variance, err := quad.Moments(f, m, v)
	if err != nil {
		t.Fatal(err)
	}
	if variance < 1e-9 {
		return // saturated: what is left is rounding
	}
	j := at(t, f, moment.MonteCarlo(n), m, v)
	if d := math.Abs(j.Mean - mean); !(d <= 5*math.Sqrt(variance/n)) {
		t.Errorf("mean of %d samples at N(%v, %v): %v, want %v", n, m, v, j.Mean, mean)
	}
	// The standard error of a variance is √((μ₄ − σ⁴)/n).
	fourth := &moment.Func{F: func(x float64) float64 { d := f.F(x) - mean; return d * d }, Kinks: f.Kinks}
	_, v4, err := quad.Moments(fourth, m, v)
	if err != nil {
		t.Fatal(err)
	}
	if d := math.Abs(j.Var - variance); !(d <= 5*math.Sqrt(v4/n)) {
		t.Errorf("variance of %d samples at N(%v, %v): %v, want %v", n, m, v, j.Var, variance)
	}
}

func zeroVariance(t testing.TB, f *moment.Func, r moment.Rule) {
	for _, m := range []float64{0.3, -1.7, 2.9} {
		j, d := at(t, f, r, m, 0), f.Slope(m)
		want := moment.Jet{Mean: f.F(m), MeanByMean: d, VarByVar: d * d}
		j.MeanByKappa, j.VarByKappa = 0, 0
		for i, g := range fields(j) {
			if w := fields(want)[i]; !(math.Abs(g-w) <= 1e-12*(1+math.Abs(w))) {
				t.Errorf("%s at N(%v, 0) is %v, want %v: the rule must take the limit itself (see moment.Rule)", names[i], m, g, w)
				break
			}
		}
	}
}

// names are those of fields.
var names = []string{"mean", "variance", "∂mean/∂m", "∂mean/∂v", "∂var/∂m", "∂var/∂v"}

func fields(j moment.Jet) []float64 {
	return []float64{j.Mean, j.Var, j.MeanByMean, j.MeanByVar, j.VarByMean, j.VarByVar}
}

// vanishingVariance: the moments approach f + ½f″v and f'²v, their derivatives
// too, over twelve decades of variance. A skewed rule approaches like σ.
func vanishingVariance(t testing.TB, f *moment.Func, r moment.Rule) {
	for _, m := range []float64{0.3, -1.7, 2.9} {
		d, c := f.Slope(m), f.Curvature(m)
		if r.String() == "linear" {
			c = 0 // in the mean: the rule ignores curvature
		}
		for v := 1e-6; v > 1e-18; v /= 10 {
			j, tol := at(t, f, r, m, v), 1e-4+2*math.Sqrt(v)
			if f.D2F == nil && j.MeanByVar == 0 {
				c = 0 // unknown curvature: the documented convention
			}
			for _, l := range []struct {
				name            string
				got, want, most float64
			}{
				{"mean", j.Mean, f.F(m), 1e-15*math.Abs(f.F(m)) + v*(math.Abs(c)+1)},
				{"variance", j.Var, d * d * v, tol * v * (d*d + math.Abs(d) + 0.1)},
				{"∂mean/∂m", j.MeanByMean, d, tol * (1 + math.Abs(d))},
				{"∂var/∂v", j.VarByVar, d * d, tol * (1 + d*d)},
				{"∂mean/∂v", j.MeanByVar, c / 2, tol * (1 + math.Abs(c))},
			} {
				if !(math.Abs(l.got-l.want) <= l.most) {
					t.Errorf("%s at N(%v, %v) is %v, the limit is %v: the rule must take the limit of tiny variances itself (see moment.Rule)", l.name, m, v, l.got, l.want)
					return
				}
			}
		}
	}
}

// single: float32 follows float64, also where the variance vanishes.
func single(t testing.TB, f *moment.Func, r moment.Rule) {
	var m, v []float32
	for _, c := range cases {
		if !nearKink(f, r, c.m, c.v) {
			m, v = append(m, float32(c.m)), append(v, float32(c.v))
		}
	}
	for _, s := range []float64{1e-3, 1e-4, 1e-5, 1e-8} {
		if !moment.Draws(r) {
			m, v = append(m, 1.3, -2.1), append(v, float32(s*s), float32(s*s))
		}
	}
	for i := range m {
		tile := moment.NewTile[float32](f, r)
		tile.Key = key
		o := make([]float32, 6)
		tile.Mean, tile.Var = m[i:i+1], v[i:i+1]
		tile.Out = kernel.Moments[float32]{Mean: o[:1], Var: o[1:2], MM: o[2:3], MV: o[3:4], VM: o[4:5], VV: o[5:6]}
		if r.Learns() {
			tile.Kappa = kappa(r)
		}
		tile.Push()
		j := at(t, f, r, float64(m[i]), float64(v[i]))
		want := fields(j)
		// The values differ by their rounding, e; so the spread they show does.
		sigma := math.Sqrt(float64(v[i]))
		e := 3e-7 * (math.Abs(j.Mean) + math.Abs(f.F(float64(m[i]))) + math.Abs(j.MeanByMean*float64(m[i])))
		slack := []float64{e, 2 * e * (math.Sqrt(j.Var) + e), 1e-6, 1e-6 / sigma, 1e-6*sigma + 2*e, 1e-6 + e/sigma}
		for k := range want {
			if !(math.Abs(float64(o[k])-want[k]) <= 1e-4*math.Abs(want[k])+10*slack[k]+1e-38) {
				t.Errorf("float32 at N(%v, %v): %v, float64 gives %v", m[i], v[i], o, want)
				break
			}
		}
	}
}

// kappa is the starting κ of a learned rule.
func kappa(r moment.Rule) float64 {
	return special.Softplus(moment.InitialKappa(r))
}

func allocations(t testing.TB, f *moment.Func, r moment.Rule) {
	tile := moment.NewTile[float32](f, r)
	n := tile.Cap()
	p := make([]float32, 8*n)
	cut := func(i int) []float32 { return p[i*n : (i+1)*n] }
	for i := range cut(1) {
		p[i], p[n+i] = float32(i%7)-3, 0.1+float32(i%5)
	}
	tile.Mean, tile.Var = cut(0), cut(1)
	tile.Out = kernel.Moments[float32]{Mean: cut(2), Var: cut(3), MM: cut(4), MV: cut(5), VM: cut(6), VV: cut(7)}
	tile.Kappa = 2
	if n := testing.AllocsPerRun(3, tile.Push); n != 0 {
		t.Errorf("Push allocates %v times", n)
	}
}
