package vi

import (
	"math"

	"utvi/internal/special"
)

// leastSpread keeps the precision of a prior finite in float32.
const leastSpread = 1e-12

// Promote makes the posterior the next prior: every weight of the random tensors has its own
// mean and standard deviation from now on, so that a training with other rows goes on from what
// is known. Part of it can be forgotten, 0 nothing and 1 all: precisions, and means by
// precisions, are mixed,
//
//	1/s² = (1−f)/σ² + f/σ₀²,  m = s²·((1−f)·μ/σ² + f·μ₀/σ₀²)
//
// where N(μ₀, σ₀²) was the prior. Weights themselves stay. It panics if forget is not between
// 0 and 1.
func (p *Params[T]) Promote(forget float64) {
	if !(forget >= 0 && forget <= 1) {
		panic("vi: what is forgotten must be between 0 and 1")
	}
	for _, t := range p.Tensors {
		if t.Random {
			t.promote(forget)
		}
	}
}

func (t *Tensor[T]) promote(forget float64) {
	center := make([]T, t.Len())
	spread := make([]T, t.Len())
	for i, rho := range t.Rho {
		s0 := t.spread(i)
		s := max(special.Softplus(float64(rho)), leastSpread)
		m0 := t.Prior.Mean + t.center(i)
		kept := (1 - forget) / (s * s)
		old := forget / (s0 * s0)
		m := (kept*float64(t.Mean[i]) + old*m0) / (kept + old)
		center[i] = T(m - t.Prior.Mean)
		spread[i] = T(max(1/math.Sqrt(kept+old), leastSpread))
	}
	t.Center = center
	t.Spread = spread
}
