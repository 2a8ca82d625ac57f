package moment_test

import (
	"math"
	"testing"

	"utvi/fn"
	"utvi/internal/compute/kernel"
	"utvi/moment"
	"utvi/rng"
)

// sloped pushes N(m, v) through a tile of float64 that wants slopes: g, ∂g/∂m, ∂g/∂v.
func sloped(f *moment.Func, r moment.Rule, m, v float64) (g, gm, gv float64) {
	t := moment.NewTile[float64](f, r)
	var o [9]float64
	t.Mean, t.Var = []float64{m}, []float64{v}
	t.Out = kernel.Moments[float64]{Mean: o[:1], Var: o[1:2], MM: o[2:3], MV: o[3:4], VM: o[4:5], VV: o[5:6]}
	t.Slope = o[6:7]
	t.SlopeM = o[7:8]
	t.SlopeV = o[8:9]
	t.Push()
	return o[6], o[7], o[8]
}

// The slope of a rule is that of the line that fits best what the rule sees, and its
// derivatives are those of it.
func TestSlopes(t *testing.T) {
	sin := func(x float64) float64 { return math.Sin(x) }
	user := &moment.Func{F: sin, DF: math.Cos, D2F: func(x float64) float64 { return -math.Sin(x) }}
	for _, c := range []struct {
		f *moment.Func
		r moment.Rule
	}{
		{user, moment.UT(2)}, {user, moment.GaussHermite(5)}, {fn.Tanh(), moment.GaussHermite(7)}, {user, moment.Linear()},
		{fn.LeakyReLU(0.2), moment.Exact()}, {fn.GELU(), moment.Exact()}, {fn.Sin(), moment.Exact()},
	} {
		if err := moment.CheckSlope(c.r, c.f); err != nil {
			t.Fatal(err)
		}
		for _, at := range [][2]float64{{0.3, 0.5}, {-0.7, 0.2}, {1.9, 1.3}} {
			m, v := at[0], at[1]
			g, gm, gv := sloped(c.f, c.r, m, v)
			want := c.f.Slope(m)
			if x, w := moment.PointsAt(c.r, m, v, rng.Key{}); c.r.String() == "exact" {
				j, _ := moment.At(c.f, c.r, m, v, rng.Key{})
				want = j.MeanByMean
			} else if len(x) > 1 {
				want = 0
				for k := range x {
					want += w[k] * (x[k] - m) * c.f.F(x[k]) / v
				}
			}
			closeTo(t, "slope of "+c.f.Name+" by "+c.r.String(), g, want, 1e-12)
			const h = 1e-4
			byM := func(d float64) float64 { g, _, _ := sloped(c.f, c.r, m+d, v); return g }
			byV := func(d float64) float64 { g, _, _ := sloped(c.f, c.r, m, v+d); return g }
			closeTo(t, "∂g/∂m of "+c.f.Name+" by "+c.r.String(), gm, (byM(h)-byM(-h))/(2*h), 1e-7)
			closeTo(t, "∂g/∂v of "+c.f.Name+" by "+c.r.String(), gv, (byV(h)-byV(-h))/(2*h), 1e-7)
		}
	}
	for _, r := range []moment.Rule{moment.MonteCarlo(5), moment.LearnedUT(2)} {
		if moment.CheckSlope(r, fn.Tanh()) == nil {
			t.Errorf("%v has a slope", r)
		}
	}
}

// ∂²E f/∂m∂v of a closed form.
func TestMixedByVar(t *testing.T) {
	// E exp = exp(m + v/2), so that the mixed derivative is half of it.
	for _, c := range [][2]float64{{0.3, 0.5}, {-2, 1e-6}, {1, 3}} {
		want := 0.5 * math.Exp(c[0]+c[1]/2)
		if got := moment.MixedByVar(fn.Exp(), c[0], c[1]); math.Abs(got-want) > 1e-7*want {
			t.Errorf("at N(%v, %v): %v, want %v", c[0], c[1], got, want)
		}
	}
	if got := moment.MixedByVar(fn.Exp(), 1e10, 1e-20); got != 0 {
		t.Errorf("where a step is below rounding: %v", got)
	}
}

// Elements of a tile take their limits one by one.
func TestLimitsOfATile(t *testing.T) {
	means := []float64{0.3, 100, 1, 50, 2}
	vars := []float64{0.5, 1e-8, 0, 1e-9, 1.5}
	for _, d2f := range []bool{true, false} {
		f := fn.Square()
		if !d2f {
			f = &moment.Func{F: f.F, DF: f.DF}
		}
		tile := moment.NewTile[float64](f, moment.UT(2))
		o := make([]float64, 30)
		cut := func(i int) []float64 { return o[5*i : 5*i+5] }
		tile.Mean, tile.Var = means, vars
		tile.Out = kernel.Moments[float64]{Mean: cut(0), Var: cut(1), MM: cut(2), MV: cut(3), VM: cut(4), VV: cut(5)}
		tile.Push()
		for i := range means {
			j, _ := moment.At(f, moment.UT(2), means[i], vars[i], rng.Key{})
			for k, want := range []float64{j.Mean, j.Var, j.MeanByMean, j.MeanByVar, j.VarByMean, j.VarByVar} {
				if got := cut(k)[i]; got != want {
					t.Errorf("D2F %v, element %d: number %d is %v, alone %v", d2f, i, k, got, want)
				}
			}
		}
	}
}
