package moment_test

import (
	"math"
	"testing"

	"utvi/fn"
	"utvi/moment"
	"utvi/moment/momenttest"
)

func functions(t *testing.T) []*moment.Func {
	var fs []*moment.Func
	for _, name := range fn.Names() {
		f, err := fn.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		fs = append(fs, f)
	}
	return append(fs,
		fn.LeakyReLU(0.3),
		fn.MustFormula("x/(1 + x^2)"),
		fn.MustFormula("a*tanh(b*x) + c*max(x, d)", fn.Learned("a", 1.2), fn.LearnedPerUnit("b", 0.7), fn.Fixed("c", 0.4), fn.Learned("d", -0.57)),
		&moment.Func{Name: "black box", F: func(x float64) float64 { return x / (1 + x*x) }},
	)
}

// Every rule serves every function, or says why not.
func TestConformance(t *testing.T) {
	rules := []moment.Rule{
		moment.UT(2), moment.UT(0.5), moment.LearnedUT(1.3),
		moment.GaussHermite(2), moment.GaussHermite(5), moment.GaussHermite(32),
		moment.GenUT(0.4, 3.7), moment.MonteCarlo(2), moment.MonteCarlo(29),
		moment.Linear(), moment.Exact(),
	}
	closed := 0
	for _, f := range functions(t) {
		for _, r := range rules {
			if r.Check(f) != nil {
				if r.String() != "exact" || f.Exact != nil {
					t.Errorf("%v refuses %s", r, f.Name)
				}
				continue
			}
			if r.String() == "exact" {
				closed++
			}
			t.Run(r.String()+"/"+f.Name, func(t *testing.T) { momenttest.Pair(t, f, r) })
		}
	}
	if closed < 12 {
		t.Errorf("%d functions have a closed form; there were at least 12", closed)
	}
}

func TestGaussHermite3IsUT2(t *testing.T) {
	ulps := func(a, b float64) float64 {
		return math.Abs(a-b) / (math.Nextafter(math.Abs(b), math.Inf(1)) - math.Abs(b))
	}
	for _, f := range functions(t) {
		for _, m := range []float64{-3.1, 0.2, 1.7} {
			a, _ := moment.At(f, moment.GaussHermite(3), m, 0.6, [2]uint32{})
			b, _ := moment.At(f, moment.UT(2), m, 0.6, [2]uint32{})
			g, _ := moment.At(f, moment.GenUT(0, 3), m, 0.6, [2]uint32{})
			if !(ulps(a.Mean, b.Mean) <= 4 && ulps(a.Var, b.Var) <= 4) {
				t.Errorf("%s at %v: gh(3) %v %v, ut(2) %v %v", f.Name, m, a.Mean, a.Var, b.Mean, b.Var)
			}
			if !(ulps(g.Mean, b.Mean) <= 4 && ulps(g.Var, b.Var) <= 4) {
				t.Errorf("%s at %v: genut(0,3) %v %v, ut(2) %v %v", f.Name, m, g.Mean, g.Var, b.Mean, b.Var)
			}
		}
	}
}

// The unscented transform with κ = 2 is exact for quadratics.
func TestUTOfQuadratics(t *testing.T) {
	shifted := &moment.Func{F: func(x float64) float64 { return x*x - 5 }}
	for _, c := range []struct {
		f                    *moment.Func
		m, v, mean, variance float64
	}{
		{fn.Square(), 0, 1, 1, 2},
		{fn.Square(), -3, 1, 10, 38},
		{shifted, 2, 3, 2, 66},
	} {
		j, err := moment.At(c.f, moment.UT(2), c.m, c.v, [2]uint32{})
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(j.Mean-c.mean) > 1e-13*c.mean || math.Abs(j.Var-c.variance) > 1e-13*c.variance {
			t.Errorf("x² of N(%v, %v): (%v, %v), want (%v, %v)", c.m, c.v, j.Mean, j.Var, c.mean, c.variance)
		}
	}
}

// Gauss–Hermite of order n integrates polynomials of degree 2n−1 exactly.
func TestGaussHermiteDegree(t *testing.T) {
	for n := 2; n <= 32; n++ {
		x, w := moment.PointsAt(moment.GaussHermite(n), 0, 1, [2]uint32{})
		moment := 1.0 // of degree 0, 2, 4 …: (d−1)!!
		for d := 0; d <= 2*n-2; d += 2 {
			if d > 0 {
				moment *= float64(d - 1)
			}
			var sum float64
			for k := range x {
				sum += w[k] * math.Pow(x[k], float64(d))
			}
			if math.Abs(sum-moment) > 1e-12*moment {
				t.Errorf("order %d, degree %d: %v, want %v", n, d, sum, moment)
			}
		}
	}
}

// κ's derivatives, against differences of UT(κ).
func TestKappaDerivatives(t *testing.T) {
	for _, f := range []*moment.Func{fn.Tanh(), fn.Exp(), fn.Softplus()} {
		const k, h = 1.7, 1e-3
		j, err := moment.At(f, moment.LearnedUT(k), 0.4, 0.8, [2]uint32{})
		if err != nil {
			t.Fatal(err)
		}
		at := func(k float64) moment.Jet { j, _ := moment.At(f, moment.UT(k), 0.4, 0.8, [2]uint32{}); return j }
		d := func(g func(moment.Jet) float64) float64 {
			return (8*(g(at(k+h))-g(at(k-h))) - (g(at(k+2*h)) - g(at(k-2*h)))) / (12 * h)
		}
		if w := d(func(j moment.Jet) float64 { return j.Mean }); math.Abs(j.MeanByKappa-w) > 1e-8 {
			t.Errorf("%s: ∂mean/∂κ %v, want %v", f.Name, j.MeanByKappa, w)
		}
		if w := d(func(j moment.Jet) float64 { return j.Var }); math.Abs(j.VarByKappa-w) > 1e-8 {
			t.Errorf("%s: ∂var/∂κ %v, want %v", f.Name, j.VarByKappa, w)
		}
	}
}

func TestParse(t *testing.T) {
	for _, r := range []moment.Rule{moment.UT(2), moment.LearnedUT(1.5), moment.GaussHermite(7), moment.GenUT(0.5, 4), moment.MonteCarlo(3), moment.Linear(), moment.Exact()} {
		got, err := moment.Parse(r.String())
		if err != nil || got.String() != r.String() {
			t.Errorf("%v parses as %v, %v", r, got, err)
		}
	}
	for _, bad := range []string{"", "utt(2)", "ut", "ut(2", "ut(x)", "ut(2,3)", "linear(1)"} {
		if _, err := moment.Parse(bad); err == nil {
			t.Errorf("%q was parsed", bad)
		}
	}
}

func TestChecks(t *testing.T) {
	f := fn.Tanh()
	for _, r := range []moment.Rule{moment.UT(-0.1), moment.UT(math.NaN()), moment.UT(math.Inf(1)), moment.LearnedUT(0), moment.GaussHermite(1), moment.GaussHermite(33), moment.GenUT(2, 3), moment.GenUT(0, math.NaN()), moment.MonteCarlo(1), moment.MonteCarlo(1 << 40), moment.Exact()} {
		if r.Check(f) == nil {
			t.Errorf("%v serves tanh", r)
		}
	}
	if moment.UT(2).Check(&moment.Func{}) == nil || moment.UT(2).Check(nil) == nil {
		t.Error("a function without F passes")
	}
	for _, c := range [][2]float64{{math.NaN(), 1}, {math.Inf(1), 1}, {0, -1}, {0, math.NaN()}, {0, math.Inf(1)}} {
		if _, err := moment.At(f, moment.UT(2), c[0], c[1], [2]uint32{}); err == nil {
			t.Errorf("N(%v, %v) was pushed", c[0], c[1])
		}
	}
}
