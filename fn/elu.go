package fn

import (
	"math"

	"utvi/internal/call"
	"utvi/internal/compute/kernel"
	"utvi/moment"
)

// ELU returns f(x) = x for x > 0 and alpha·(eˣ−1) elsewhere (Clevert, Unterthiner
// and Hochreiter 2015). Its slope jumps at 0 unless alpha is 1.
func ELU(alpha float64) *moment.Func {
	return withExact(&moment.Func{
		Name: call.Format("elu", alpha),
		F: func(x float64) float64 {
			if x > 0 {
				return x
			}
			return alpha * math.Expm1(x)
		},
		DF: func(x float64) float64 {
			if x > 0 {
				return 1
			}
			return alpha * math.Exp(x)
		},
		D2F: func(x float64) float64 {
			if x > 0 {
				return 0
			}
			return alpha * math.Exp(x)
		},
		Kinks: []float64{0}, // for alpha = 1 the curvature still jumps
		Op:    kernel.OpELU,
		A:     alpha,
	}, func(m, v float64) moment.Jet {
		if m < 0 {
			return eluBelow(m, v, alpha)
		}
		return eluAbove(m, v, alpha)
	})
}
