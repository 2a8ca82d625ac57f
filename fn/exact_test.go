package fn_test

import (
	"math"
	"testing"

	"utvi/fn"
	"utvi/moment"
	"utvi/moment/quad"
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
	zs  = []float64{-37, -20.5, -8.3, -4, -1.8, -0.7, -0.05, 0, 0.01, 0.4, 1.3, 2.9, 6, 15, 40}
	sds = []float64{1e-6, 1e-3, 0.02, 0.3, 0.49, 0.51, 1, 2.5, 10}
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
		worst := 0.0
		for _, sd := range sds {
			for _, z := range zs {
				m, v := z*sd, sd*sd
				wantMean, wantVar, err := quad.Moments(f, m, v)
				if err != nil {
					if f.Name != "exp" {
						t.Error(err)
					}
					continue
				}
				j := f.Exact(m, v)
				// A mean that crosses zero is judged against the spread.
				em := distance(j.Mean, wantMean)
				if wantVar > 0 {
					em = min(em, math.Abs(j.Mean-wantMean)/math.Sqrt(wantVar))
				}
				ev := distance(j.Var, wantVar)
				if e := max(em, ev); e > worst {
					worst = e
					t.Logf("%s z=%g σ=%g: %.1e %.1e", f.Name, z, sd, em, ev)
				}
				if !(em < 1e-10) || !(ev < 1e-10) {
					t.Errorf("%s z=%g σ=%g: mean %.15g want %.15g (%.1e), var %.15g want %.15g (%.1e)", f.Name, z, sd, j.Mean, wantMean, em, j.Var, wantVar, ev)
				}
			}
		}
		t.Logf("%s: worst %.1e", f.Name, worst)
	}
}
