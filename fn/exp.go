package fn

import (
	"math"
	"utvi/internal/compute/kernel"
	"utvi/moment"
)

// Exp returns f(x) = eˣ.
func Exp() *moment.Func {
	return withExact(&moment.Func{
		Name: "exp",
		F:    math.Exp,
		DF:   math.Exp,
		D2F:  math.Exp,
		Op:   kernel.OpExp,
	}, expMoments)
}

// expMoments are those of the lognormal distribution, with the variance as
// e^{2m+2v}·(1−e⁻ᵛ).
func expMoments(m, v float64) moment.Jet {
	mean := math.Exp(m + v/2)
	second, lost := math.Exp(2*m+2*v), math.Expm1(-v)
	variance := -second * lost
	return moment.Jet{
		Mean: mean, Var: variance,
		MeanByMean: mean, MeanByVar: mean / 2,
		VarByMean: 2 * variance, VarByVar: second * (1 - lost),
	}
}
