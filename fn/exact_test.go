package fn_test

import (
	"math"
	"testing"

	"utvi/fn"
	"utvi/internal/quad"
	"utvi/moment"
)

// closed are the functions with a closed form.
func closed() []*moment.Func {
	return []*moment.Func{
		fn.Identity(), fn.ReLU(), fn.LeakyReLU(0.01), fn.LeakyReLU(-0.3), fn.LeakyReLU(1.7), fn.Abs(),
		fn.ELU(1), fn.ELU(0.3), fn.ELU(2), fn.GELU(), fn.Erf(), fn.NormalCDF(),
		fn.Exp(), fn.Sin(), fn.Cos(), fn.Square(),
	}
}

var (
	zs  = []float64{-36.4, -20.5, -8.3, -4, -1.8, -0.7, -0.05, 0, 0.01, 0.4, 1.3, 2.9, 6, 15, 40}
	sds = []float64{1e-6, 1e-3, 0.08, 0.49, 0.51, 2.5, 10}
)

// distance is the error relative to want; both subnormal counts as equal.
func distance(got, want float64) float64 {
	if got == want || math.Abs(got) < 1e-300 && math.Abs(want) < 1e-300 {
		return 0
	}
	return math.Abs(got-want) / math.Abs(want)
}

func TestExactAgainstQuadrature(t *testing.T) {
	for _, f := range closed() {
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			againstQuadrature(t, f)
		})
	}
}

func againstQuadrature(t *testing.T, f *moment.Func) {
	worst := 0.0
	for _, sd := range sds {
		for _, z := range zs {
			m, v := z*sd, sd*sd
			wantMean, wantVar, err := quad.Moments(f, m, v)
			if err != nil {
				if f.Name != "exp" { // it overflows
					t.Error(err)
				}
				continue
			}
			j := f.Exact(m, v)
			ev, em := distance(j.Var, wantVar), distance(j.Mean, wantMean)
			if em > 0 { // a mean may cross zero: then the size of what it sums counts
				size := math.Abs(wantMean) + math.Abs(f.F(m))
				if math.Abs(z) < 1 {
					size += math.Sqrt(wantVar)
				}
				em = math.Abs(j.Mean-wantMean) / size
			}
			// The density magnifies the rounding of z, or of h = m/√(1+v), by z².
			bound := 2e-14 + 1e-16*z*z
			worst = max(worst, em, ev)
			if !(em < bound) || !(ev < bound) {
				t.Errorf("z=%g σ=%g: mean %.15g want %.15g (%.1e), var %.15g want %.15g (%.1e)",
					z, sd, j.Mean, wantMean, em, j.Var, wantVar, ev)
			}
		}
	}
	t.Logf("worst relative error %.1e", worst)
}

// TestLeakyFarBelow is the case a clamp of z at ±3 gets wrong by a factor of 100.
func TestLeakyFarBelow(t *testing.T) {
	j := fn.LeakyReLU(0.01).Exact(-6, 1)
	if math.Abs(j.Var-1e-4) > 1e-7 || math.Abs(j.Mean+0.06) > 1e-7 {
		t.Errorf("leaky ReLU over N(−6, 1): mean %g, variance %g, want −0.06 and about 1e-4", j.Mean, j.Var)
	}
	// The plain ReLU is not dead there.
	if j := fn.ReLU().Exact(-6, 1); !(j.Var > 1e-11 && j.Var < 1e-10 && j.Mean > 1e-11 && j.VarByMean > 0) {
		t.Errorf("ReLU over N(−6, 1): %+v", j)
	}
}

func TestExactWithoutVariance(t *testing.T) {
	for _, f := range closed() {
		for _, m := range []float64{-31, -0.4, 0, 1e-9, 2.3} {
			d := f.DF(m)
			want := moment.Jet{Mean: f.F(m), MeanByMean: d, VarByVar: d * d}
			if j := f.Exact(m, 0); j != want {
				t.Errorf("%s over N(%g, 0): %+v, want %+v", f.Name, m, j, want)
			}
		}
	}
}

// TestExactIsFinite goes over the range of float32, and variances below it.
func TestExactIsFinite(t *testing.T) {
	means := []float64{0, 1e-45, 1e-20, 3e-4, 0.6, 7, 40, 1e3, 2e10, 3e38}
	variances := []float64{0, 5e-324, 1e-300, 1e-45, 1e-30, 1e-9, 0.2, 3, 80, 1e4, 1e20, 3e38}
	for _, f := range closed() {
		for _, a := range means {
			for _, m := range []float64{a, -a} {
				for _, v := range variances {
					j := f.Exact(m, v)
					sum := j.Mean + j.Var + j.MeanByMean + j.MeanByVar + j.VarByMean + j.VarByVar
					overflows := f.Name == "exp" && m+v > 300
					if j.Var < 0 || (math.IsNaN(sum) || math.IsInf(sum, 0)) && !overflows {
						t.Errorf("%s over N(%g, %g): %+v", f.Name, m, v, j)
					}
				}
			}
		}
	}
}

// TestExactSmallVariance holds the limit var → f′²v, ∂mean/∂v → f″/2.
func TestExactSmallVariance(t *testing.T) {
	for _, f := range closed() {
		for _, m := range []float64{-3.1, -0.8, 0.3, 1.7} {
			for _, v := range []float64{1e-14, 1e-30, 1e-60} {
				j, d := f.Exact(m, v), f.DF(m)
				if distance(j.Var, d*d*v) > 1e-11 || distance(j.MeanByVar, f.D2F(m)/2) > 1e-11 {
					t.Errorf("%s over N(%g, %g): var %g, f′²v %g; ∂mean/∂v %g, f″/2 %g",
						f.Name, m, v, j.Var, d*d*v, j.MeanByVar, f.D2F(m)/2)
				}
			}
		}
	}
}
