package fn_test

import (
	"math"
	"testing"

	"utvi/fn"
	"utvi/moment"
)

const ulp = 0x1p-52

// difference is the sixth-order central difference of g with step h, and a
// bound on its rounding error.
func difference(g func(x float64) float64, x, h float64) (slope, noise float64) {
	at := func(k float64) float64 { return g(x + k*h) }
	slope = (45*(at(1)-at(-1)) - 9*(at(2)-at(-2)) + at(3) - at(-3)) / (60 * h)
	return slope, 8 * ulp * (math.Abs(at(1)) + math.Abs(at(-1))) / h
}

// near reports whether got is a derivative of size scale up to 1e-6 and noise.
func near(got, want, scale, noise float64) bool {
	return math.Abs(got-want) <= 1e-6*math.Abs(want)+1e-8*scale+noise
}

func TestExactDerivatives(t *testing.T) {
	for _, f := range closed() {
		mean := func(m, v float64) float64 { return f.Exact(m, v).Mean }
		variance := func(m, v float64) float64 { return f.Exact(m, v).Var }
		for _, sd := range sds {
			for _, z := range zs {
				m, v := z*sd, sd*sd
				j := f.Exact(m, v)
				if j.Var < 1e-280 || math.IsInf(j.Var, 0) {
					continue // differences of subnormal numbers
				}
				hm, hv := 0.02*sd/(1+math.Abs(z)+2*sd), 0.02*v/(1+z*z+2*v)
				for _, c := range []struct {
					name     string
					of       func(m, v float64) float64
					value    float64
					byM, byV float64
				}{
					{"mean", mean, j.Mean, j.MeanByMean, j.MeanByVar},
					{"var", variance, j.Var, j.VarByMean, j.VarByVar},
				} {
					want, noise := difference(func(m float64) float64 { return c.of(m, v) }, m, hm)
					// Rounding of m itself moves the value too.
					noise += 4 * ulp * math.Abs(c.byM*m) / hm
					if !near(c.byM, want, 0, noise) {
						t.Errorf("%s z=%g σ=%g: ∂%s/∂m %.12g, differences %.12g ± %.1g", f.Name, z, sd, c.name, c.byM, want, noise)
					}
					want, noise = difference(func(v float64) float64 { return c.of(m, v) }, v, hv)
					noise += 4 * ulp * math.Abs(c.byM*m) / hv
					if !near(c.byV, want, 0, noise) {
						t.Errorf("%s z=%g σ=%g: ∂%s/∂v %.12g, differences %.12g ± %.1g", f.Name, z, sd, c.name, c.byV, want, noise)
					}
				}
			}
		}
	}
}

// all are the functions that have a DF and a D2F.
func all() []*moment.Func {
	return append(closed(), fn.SiLU(), fn.Softplus(), fn.Sigmoid(), fn.Tanh(), fn.NormalInverse())
}

func TestSlopes(t *testing.T) {
	for _, f := range all() {
		for _, x := range []float64{-35, -12, -5.3, -2.4, -1, -0.3, -1e-3, 1e-4, 0.2, 0.8, 1.9, 2.6, 4, 9, 21, 30} {
			h := min(0.01, math.Abs(x)/8) / (1 + math.Abs(x)/4)
			want, noise := difference(f.F, x, h)
			if !near(f.DF(x), want, 0, noise) {
				t.Errorf("%s: slope at %g %.12g, differences %.12g ± %.1g", f.Name, x, f.DF(x), want, noise)
			}
			want, noise = difference(f.DF, x, h)
			if !near(f.D2F(x), want, 0, noise) {
				t.Errorf("%s: curvature at %g %.12g, differences %.12g ± %.1g", f.Name, x, f.D2F(x), want, noise)
			}
		}
	}
}
