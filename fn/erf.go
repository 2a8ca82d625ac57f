package fn

import (
	"math"
	"utvi/internal/compute/kernel"
	"utvi/internal/special"
	"utvi/moment"
)

// Erf returns f(x) = erf x = 2Φ(√2·x) − 1.
func Erf() *moment.Func {
	return withExact(&moment.Func{
		Name: "erf",
		F:    math.Erf,
		DF:   erfSlope,
		D2F:  func(x float64) float64 { return mulTail(-2*x, erfSlope(x)) },
		Op:   kernel.OpErf,
	}, erfMoments)
}

// erfSlope is 2·exp(−x²)/√π.
func erfSlope(x float64) float64 {
	return 2 * math.Sqrt2 * special.PDF(math.Sqrt2*x)
}

// erfMoments come from those of Φ over N(√2·m, 2v).
func erfMoments(m, v float64) moment.Jet {
	j := normalCDFMoments(math.Sqrt2*m, 2*v)
	return moment.Jet{
		Mean: math.Erf(m / math.Sqrt(1+2*v)), Var: 4 * j.Var,
		MeanByMean: 2 * math.Sqrt2 * j.MeanByMean, MeanByVar: 4 * j.MeanByVar,
		VarByMean: 4 * math.Sqrt2 * j.VarByMean, VarByVar: 8 * j.VarByVar,
	}
}
