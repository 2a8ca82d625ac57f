package moment_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"utvi/fn"
	"utvi/internal/compute/kernel"
	"utvi/moment"
	"utvi/rng"
)

// push32 carries one element through a tile of float32 and returns mean, variance and
// their derivatives.
func push32(f *moment.Func, r moment.Rule, m, v float32) [6]float32 {
	var o [6]float32
	t := moment.NewTile[float32](f, r)
	t.Mean, t.Var = []float32{m}, []float32{v}
	t.Out = kernel.Moments[float32]{Mean: o[:1], Var: o[1:2], MM: o[2:3], MV: o[3:4], VM: o[4:5], VV: o[5:6]}
	t.Push()
	return o
}

// A σ that is small beside the mean, not beside 1, takes the Taylor limit: far from
// zero, rounding leaves nothing of what points a little apart would show.
func TestLimitFollowsTheMean(t *testing.T) {
	square := fn.Square()
	for _, c := range []struct{ m, sigma float32 }{{100, 5e-3}, {-1000, 0.05}, {1e4, 0.5}} {
		v := c.sigma * c.sigma
		want := [6]float32{c.m*c.m + v, 4 * c.m * c.m * v, 2 * c.m, 1, 8 * c.m * v, 4 * c.m * c.m}
		for k, g := range push32(square, moment.UT(2), c.m, v) {
			if math.Abs(float64(g-want[k])) > 2e-6*math.Abs(float64(want[k])) {
				t.Errorf("x² of N(%g, %g), float32: number %d is %g, want %g", c.m, v, k, g, want[k])
			}
		}
	}
	j, err := moment.At(square, moment.UT(2), 1e6, 25, rng.Key{})
	if err != nil || math.Abs(j.MeanByVar-1) > 1e-12 || math.Abs(j.VarByMean-8e6*25) > 1e-3 {
		t.Errorf("x² of N(1e6, 25): %+v, %v", j, err)
	}
	// Where it is not small, the points speak: the variance has its term 2v².
	j, err = moment.At(square, moment.UT(2), 1, 0.25, rng.Key{})
	if err != nil || math.Abs(j.Var-(4*0.25+2*0.25*0.25)) > 1e-14 {
		t.Errorf("x² of N(1, 0.25): %+v, %v", j, err)
	}
}

// No limit is taken across a kink: at it, half of the Gaussian sees each side.
func TestNoLimitAtAKink(t *testing.T) {
	relu := fn.ReLU()
	for _, v := range []float64{1e-14, 1e-20} {
		j, err := moment.At(relu, moment.UT(2), 0, v, rng.Key{})
		if want := math.Sqrt(3*v) / 6; err != nil || math.Abs(j.Mean-want) > 1e-12*want {
			t.Errorf("ReLU of N(0, %g): %+v, want the mean %g", v, j, want)
		}
		// Within eight σ of the kink the points are kept, beyond the limit is.
		j, _ = moment.At(relu, moment.UT(2), 9*math.Sqrt(v), v, rng.Key{})
		if j.MeanByMean != 1 || j.MeanByVar != 0 {
			t.Errorf("ReLU of N(9σ, %g): %+v", v, j)
		}
	}
}

func TestPoints(t *testing.T) {
	third := 1.0 / 6
	mine := moment.Points("mine", []float64{0, -math.Sqrt(3), math.Sqrt(3)}, []float64{1 - 2*third, third, third})
	if err := mine.Check(fn.Tanh()); err != nil {
		t.Fatal(err)
	}
	a, _ := moment.At(fn.Tanh(), mine, 0.4, 0.8, rng.Key{})
	b, _ := moment.At(fn.Tanh(), moment.UT(2), 0.4, 0.8, rng.Key{})
	if math.Abs(a.Mean-b.Mean) > 1e-15 || math.Abs(a.VarByMean-b.VarByMean) > 1e-14 {
		t.Errorf("the same points give %+v and %+v", a, b)
	}
	for want, r := range map[string]moment.Rule{
		"bad: 0 points and 0 weights":              moment.Points("bad", nil, nil),
		"bad: 2 points and 1 weights":              moment.Points("bad", []float64{-1, 1}, []float64{1}),
		"bad: the points have Σw ξ^0 = 0.9":        moment.Points("bad", []float64{-1, 1}, []float64{0.45, 0.45}),
		"bad: the points have Σw ξ^1 = 0.1999":     moment.Points("bad", []float64{-1, 1}, []float64{0.4, 0.6}),
		"bad: the points have Σw ξ^2 = 4; a":       moment.Points("bad", []float64{-2, 2}, []float64{0.5, 0.5}),
		"bad: the points have Σw ξ^0 = NaN; a":     moment.Points("bad", []float64{0}, []float64{math.NaN()}),
		"bad: the points have Σw ξ^2 = 0; a stand": moment.Points("bad", []float64{0}, []float64{1}),
		"bad: 1 points and 2 weights; th":          moment.Points("bad", []float64{0}, []float64{1, 0}),
	} {
		if err := r.Check(fn.Tanh()); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// Curvature is right whatever is given: by D2F, by differences of DF or of F.
func TestCurvature(t *testing.T) {
	f := fn.Tanh()
	byDF := &moment.Func{F: f.F, DF: f.DF}
	byF := &moment.Func{F: f.F}
	for _, x := range []float64{-40, -1.3, 0.2, 2} {
		want := f.Curvature(x)
		if got := byDF.Curvature(x); math.Abs(got-want) > 1e-9 {
			t.Errorf("tanh″(%v) by differences of the slope is %v, want %v", x, got, want)
		}
		if got := byF.Curvature(x); math.Abs(got-want) > 1e-6 {
			t.Errorf("tanh″(%v) by differences of values is %v, want %v", x, got, want)
		}
		if got := byF.Slope(x); math.Abs(got-f.Slope(x)) > 1e-9 {
			t.Errorf("tanh′(%v) by differences is %v, want %v", x, got, f.Slope(x))
		}
	}
}

// Eval may write over its arguments, and gives the slopes of where they were.
func TestEvalInPlace(t *testing.T) {
	f := &moment.Func{F: func(x float64) float64 { return x * x }, DF: func(x float64) float64 { return 2 * x }}
	x, d := []float64{1, 2, 3}, make([]float64, 3)
	moment.Eval(f, x, x, d)
	if !slices.Equal(x, []float64{1, 4, 9}) || !slices.Equal(d, []float64{2, 4, 6}) {
		t.Errorf("%v with slopes %v", x, d)
	}
	y := []float32{1, 2, 3}
	moment.Eval[float32](fn.Square(), y, y, nil)
	if !slices.Equal(y, []float32{1, 4, 9}) {
		t.Errorf("%v", y)
	}
}

// What a rule leaves to its caller, and what it has by default.
func TestRuleDefaults(t *testing.T) {
	for _, f := range []*moment.Func{fn.Tanh(), fn.ReLU(), {F: math.Sin}} {
		a, err := moment.At(f, nil, 0.3, 0.5, rng.Key{})
		b, _ := moment.At(f, moment.Default(f), 0.3, 0.5, rng.Key{})
		if err != nil || a != b {
			t.Errorf("no rule gives %+v, %v; the default gives %+v", a, err, b)
		}
	}
	if a, b := moment.Default(fn.ReLU()), moment.Default(fn.Tanh()); a.String() != "exact" || b.String() != "gh(9)" {
		t.Errorf("the defaults are %v and %v", a, b)
	}
	if err := moment.Exact().Check(&moment.Func{F: math.Sin}); err == nil || !strings.Contains(err.Error(), "for this function") {
		t.Errorf("a function without name: %v", err)
	}
	if moment.Exact().Check(&moment.Func{}) == nil {
		t.Error("exact serves a function without F")
	}
	if moment.InitialKappa(moment.UT(2)) != 0 {
		t.Error("ut has a κ to learn")
	}
	for _, bad := range []string{"gh(2.5)", "mc(1e10)", "genut(1)", "exact(1)"} {
		if _, err := moment.Parse(bad); err == nil {
			t.Errorf("%q was parsed", bad)
		}
	}
	if err := moment.MonteCarlo(1 << 20).Check(fn.Tanh()); err != nil {
		t.Error(err)
	}
	if moment.MonteCarlo(1<<20+1).Check(fn.Tanh()) == nil {
		t.Error("mc takes more than 2²⁰ samples")
	}
}

// A tile of the size it says takes a user's function in float32, and gives κ's
// derivatives.
func TestTileOfAUsersFunction(t *testing.T) {
	f := &moment.Func{F: math.Tanh}
	tile := moment.NewTile[float32](f, moment.LearnedUT(1.5))
	n := tile.Cap()
	p := make([]float32, 10*n)
	cut := func(i int) []float32 { return p[i*n : (i+1)*n] }
	for i := range n {
		p[i], p[n+i] = float32(i%7)/3-1, 0.1+float32(i%5)/10
	}
	tile.Mean, tile.Var = cut(0), cut(1)
	tile.Out = kernel.Moments[float32]{Mean: cut(2), Var: cut(3), MM: cut(4), MV: cut(5), VM: cut(6), VV: cut(7)}
	tile.MK = cut(8)
	tile.VK = cut(9)
	tile.Kappa = 1.5
	for range 2 { // the second finds the tile as it was
		clear(p[2*n:])
		tile.Push()
		for _, i := range []int{0, 1, n / 2, n - 1} {
			j, _ := moment.At(f, moment.LearnedUT(1.5), float64(p[i]), float64(p[n+i]), rng.Key{})
			for k, want := range []float64{j.Mean, j.Var, j.MeanByMean, j.MeanByVar, j.VarByMean, j.VarByVar, j.MeanByKappa, j.VarByKappa} {
				if got := float64(cut(2 + k)[i]); math.Abs(got-want) > 1e-6*(0.01+math.Abs(want)) {
					t.Errorf("element %d: number %d is %v, want %v", i, k, got, want)
				}
			}
		}
	}
}
