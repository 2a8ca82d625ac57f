package fn

import (
	"math"
	"utvi/internal/compute/kernel"
	"utvi/moment"
)

// Sin returns f(x) = sin x.
func Sin() *moment.Func {
	return withExact(&moment.Func{
		Name: "sin",
		F:    math.Sin,
		DF:   math.Cos,
		D2F:  func(x float64) float64 { return -math.Sin(x) },
		Op:   kernel.OpSin,
	}, func(m, v float64) moment.Jet {
		return waveMoments(math.Sin(m), math.Cos(m), v)
	})
}

// Cos returns f(x) = cos x.
func Cos() *moment.Func {
	return withExact(&moment.Func{
		Name: "cos",
		F:    math.Cos,
		DF:   func(x float64) float64 { return -math.Sin(x) },
		D2F:  func(x float64) float64 { return -math.Cos(x) },
		Op:   kernel.OpCos,
	}, func(m, v float64) moment.Jet {
		return waveMoments(math.Cos(m), -math.Sin(m), v)
	})
}

// waveMoments are the moments of a wave with value s and slope c at the mean,
// s² + c² = 1, by its characteristic function. With q = e⁻ᵛ,
//
//	mean = √q·s    var = (1−q)·((1−q)/2 + q·c²)
//
// which is (1 − q²·cos 2m)/2 − q·s² with the differences taken out.
func waveMoments(s, c, v float64) moment.Jet {
	root := math.Exp(-v / 2)
	q := math.Exp(-v)
	p := -math.Expm1(-v)
	return moment.Jet{
		Mean: root * s, Var: p * (p/2 + q*c*c),
		MeanByMean: root * c, MeanByVar: -root * s / 2,
		VarByMean: -2 * p * q * s * c, VarByVar: q * (s*s*p + c*c*q),
	}
}
