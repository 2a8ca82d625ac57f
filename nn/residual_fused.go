package nn

import (
	"math"

	"utvi/internal/expr"
	"utvi/moment"
)

// fused returns x ↦ x + f(x): as a formula, and so as a program, unless f is a
// user's code.
func fused(f *moment.Func) *moment.Func {
	g := &moment.Func{
		F:     func(x float64) float64 { return x + f.F(x) },
		D2F:   f.D2F,
		Kinks: f.Kinks,
	}
	if f.Name != "" {
		g.Name = "residual(" + f.Name + ")"
	}
	if f.DF != nil {
		g.DF = func(x float64) float64 { return 1 + f.DF(x) }
	}
	if f.Exact != nil {
		g.Exact = func(m, v float64) moment.Jet { return fusedMoments(f, m, v) }
	}
	if of := f.Expr(); of != nil {
		if sum, err := expr.Parse("x + ("+of.Text+")", of.Params...); err == nil { // else it is too long
			g.Formula = sum
		}
	}
	return g
}

// fusedMoments are the moments of x + f(x) from those of f. By Stein's lemma
// Cov(x, f(x)) = v·E f' = v·∂E f/∂m, so with E and V the moments of f
//
//	mean = m + E,   var = v + V + 2v·E_m,   E_mm = 2E_v.
//
// ∂var/∂v needs E_mv, the slope of E_v, which is taken by differences over a
// hundredth of a standard deviation; they are good to 1e-8.
func fusedMoments(f *moment.Func, m, v float64) moment.Jet {
	j := f.Exact(m, v)
	mixed := moment.MixedByVar(f, m, v)
	return moment.Jet{
		Mean: m + j.Mean, Var: math.Max(0, v+j.Var+2*v*j.MeanByMean),
		MeanByMean: 1 + j.MeanByMean, MeanByVar: j.MeanByVar,
		VarByMean: j.VarByMean + 4*v*j.MeanByVar,
		VarByVar:  1 + j.VarByVar + 2*j.MeanByMean + 2*v*mixed,
	}
}
