package fn

import (
	"math"
	"utvi/internal/compute/kernel"
	"utvi/internal/special"
	"utvi/moment"
)

// NormalCDF returns f(x) = Φ(x), the standard Normal distribution function.
func NormalCDF() *moment.Func {
	return withExact(&moment.Func{
		Name: "normal-cdf",
		F:    special.CDF,
		DF:   special.PDF,
		D2F:  func(x float64) float64 { return mulTail(-x, special.PDF(x)) },
		Op:   kernel.OpNormalCDF,
	}, normalCDFMoments)
}

// normalCDFMoments: with s² = 1+v, h = m/s and a² = 1/(1+2v),
//
//	mean = Φ(h)    var = Φ(h)Φ(−h) − 2T(h, a) = 2(T(h, 1) − T(h, a))
//
// T being Owen's function. The variance is integrated as the slice of T between
// a and 1, where nothing cancels: with W = exp(−h²(1+a²)/2)/(π(1+a²)),
//
//	∂var/∂h = −2φ(h)(Φ(h) − Φ(ah))    ∂var/∂a = −W    ∂h/∂v = −h/2s²    ∂a/∂v = −a³
func normalCDFMoments(m, v float64) moment.Jet {
	s2 := 1 + v
	s := math.Sqrt(s2)
	h := m / s
	p := special.PDF(h)
	a, width := owenSpan(v)
	byH := -2 * p * math.Copysign(special.CDFSlice(-math.Abs(h), math.Abs(h)*width), h)
	w := special.PDF(h) * special.PDF(a*h) * 2 / (1 + a*a)
	return moment.Jet{
		Mean:       special.CDF(h),
		Var:        special.OwenArc(h, a, width) / math.Pi,
		MeanByMean: p / s, MeanByVar: mulTail(-h, p) / (2 * s2),
		VarByMean: byH / s, VarByVar: w*a*a*a - mulTail(h, byH)/(2*s2),
	}
}

// owenSpan returns a = 1/√(1+2v) and 1−a.
func owenSpan(v float64) (a, width float64) {
	a = 1 / math.Sqrt(1+2*v)
	return a, 2 * v * a * a / (1 + a)
}
