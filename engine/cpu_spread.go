package engine

import (
	"math"

	"utvi/internal/compute/kernel"
)

// doSpread adds to the gradients of a range what its weights' own priors change. The kernels know
// one variance P of the prior of all weights; with a variance s of its own,
//
//	KL changes by ½ ln(s/P) + (σ² + (μ−μ₀)²)/2 · (1/s − 1/P)
//
// and its gradients by (μ−μ₀)·(1/s − 1/P) and, with respect to σ², by ½·(1/s − 1/P).
func (t *trainer) doSpread(worker, task int) {
	r := &t.ranges[task]
	p := t.params.Tensors[r.tensor]
	r.spread = 0
	if p.Spread == nil {
		return
	}
	all := p.Prior.Std * p.Prior.Std
	for lo := r.lo; lo < r.hi; lo += priorChunk {
		hi := min(r.hi, lo+priorChunk)
		v := t.scratch[worker].variances[:hi-lo]
		kernel.Variance(v, p.Rho[lo:hi])
		for i, own := range p.Spread[lo:hi] {
			s := float64(own) * float64(own)
			more := 1/s - 1/all
			d := float64(p.Mean[lo+i]) - p.Prior.Mean
			if p.Center != nil {
				d -= float64(p.Center[lo+i])
			}
			r.spread += 0.5*math.Log(s/all) + 0.5*(float64(v[i])+float64(d*d))*more
			p.GMean[lo+i] += float32(t.adamw.KL * d * more)
			p.GVar[lo+i] += float32(t.adamw.KL * 0.5 * more)
		}
	}
}
