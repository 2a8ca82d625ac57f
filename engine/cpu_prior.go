package engine

import (
	"math"
	"utvi/internal/compute/kernel"
	"utvi/vi"
)

// priorChunk is the number of variances that are computed at a time.
const priorChunk = 512

// FitPriors sums each range separately, then the ranges in order.
func (t *trainer) FitPriors(e vi.EmpiricalBayes) {
	t.Pool.Run(len(t.ranges), t.runPrior)
	for i, x := range t.params.Tensors {
		if !x.Random || x.Spread != nil {
			continue
		}
		var sum float64
		for _, r := range t.ranges {
			if r.tensor == i {
				sum += r.prior
			}
		}
		std := math.Sqrt(e.Variance(x.Len(), sum))
		x.Prior.Std, t.net.Params.Tensors[i].Prior.Std = std, std
	}
}

// sumPriorMoments computes Σ(σ² + (μ−μ₀)²) of a range.
func (t *trainer) sumPriorMoments(worker, task int) {
	r := &t.ranges[task]
	p := t.params.Tensors[r.tensor]
	r.prior = 0
	if !p.Random {
		return
	}
	for lo := r.lo; lo < r.hi; lo += priorChunk {
		hi := min(r.hi, lo+priorChunk)
		v := t.scratch[worker].variances[:hi-lo]
		kernel.Variance(v, p.Rho[lo:hi])
		for i, m := range p.Mean[lo:hi] {
			d := float64(m) - p.Prior.Mean
			if p.Center != nil {
				d -= float64(p.Center[lo+i])
			}
			r.prior += float64(v[i]) + float64(d*d)
		}
	}
}
