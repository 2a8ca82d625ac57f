package fn

import (
	"math"

	"utvi/internal/call"
	"utvi/internal/compute/kernel"
	"utvi/internal/special"
	"utvi/moment"
)

// ReLU returns f(x) = max(x, 0), the leaky ReLU of slope 0.
func ReLU() *moment.Func {
	f := LeakyReLU(0)
	f.Name = "relu"
	f.F = func(x float64) float64 { return max(x, 0) } // 0, not NaN, at −Inf
	return f
}

// LeakyReLU returns f(x) = x for x > 0 and slope·x elsewhere; the slope at 0 is
// that of the negative side.
func LeakyReLU(slope float64) *moment.Func {
	return withExact(&moment.Func{
		Name:  call.Format("leaky-relu", slope),
		F:     func(x float64) float64 { return x * leakySlope(x, slope) },
		DF:    func(x float64) float64 { return leakySlope(x, slope) },
		D2F:   zero,
		Kinks: []float64{0},
		Op:    kernel.OpLeakyReLU,
		A:     slope,
	}, func(m, v float64) moment.Jet {
		return leakyMoments(m, v, slope)
	})
}

func leakySlope(x, slope float64) float64 {
	if x > 0 {
		return 1
	}
	return slope
}

// leakyMoments are the moments of the leaky ReLU of slope a (Frey and Hinton
// 1999). With z = m/σ, Φ̄ = Φ(−z), R = φ + zΦ and Q = φ − zΦ̄,
//
//	mean = σ(R − aQ)              ∂/∂m = Φ + aΦ̄          ∂/∂v = (1−a)φ/(2σ)
//	var  = σ²(Φ + a²Φ̄ − (1−a)²RQ)   ∂/∂m = 2σ(1−a)(RΦ̄ + aQΦ)
//	                              ∂/∂v = Φ + a²Φ̄ − (1−a)(R − aQ)φ
//
// Below z = 0 the variance is formed from that of the plain ReLU,
// Φ − RQ = 2φI₂ − R² with R = φI₁ (special.Tail): a difference of its two terms
// would lose every digit there.
func leakyMoments(m, v, a float64) moment.Jet {
	sd := math.Sqrt(v)
	z := m / sd
	b := 1 - a
	p := special.PDF(z)
	tail := special.Tail(math.Abs(z))
	small := p * tail.I0 // the lesser of Φ and Φ̄
	rest := p * tail.I1  // the lesser of R and Q
	if z < 0 {
		relu := 2*p*tail.I2 - rest*rest
		return moment.Jet{
			Mean: a*m + b*sd*rest, Var: v * (a*a + 2*a*b*small + b*b*relu),
			MeanByMean: small + a*(1-small), MeanByVar: b * p / (2 * sd),
			VarByMean: 2 * sd * b * (rest*(1-small) + a*mulTail(rest-z, small)),
			VarByVar:  small + a*a*(1-small) - b*(rest*p-a*mulTail(rest-z, p)),
		}
	}
	return moment.Jet{
		Mean: m + b*sd*rest, Var: v * (1 - small + a*a*small - b*b*mulTail(z+rest, rest)),
		MeanByMean: 1 - small + a*small, MeanByVar: b * p / (2 * sd),
		VarByMean: 2 * sd * b * (mulTail(z+rest, small) + a*rest*(1-small)),
		VarByVar:  1 - small + a*a*small - b*(mulTail(z+rest, p)-a*rest*p),
	}
}
