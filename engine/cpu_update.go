package engine

import (
	"math"

	"utvi/engine/internal/sampling"
	"utvi/internal/compute"
	"utvi/internal/compute/kernel"
	"utvi/optim"
	"utvi/vi"
)

// Update makes the AdamW step, unless the gradients are not finite. Only clipping
// needs the norm before the step.
func (t *trainer) Update(u Update) Change {
	t.setAdamW(u)
	if t.spread {
		t.Pool.Run(len(t.ranges), t.runSpread)
	}
	if clip := t.Optimizer.Clip; clip > 0 {
		t.Pool.Run(len(t.ranges), t.runNorm)
		c := t.sumRanges()
		if c.Finite {
			t.adamw.Clip = min(1, clip/c.GradNorm)
			t.makeStep()
		}
		return c
	}
	t.Pool.Run(len(t.ranges), t.runCheck)
	for _, r := range t.ranges {
		if !r.finite {
			return Change{}
		}
	}
	t.makeStep()
	return t.sumRanges()
}

func (t *trainer) sumRanges() (c Change) {
	var norm2 float64
	for _, r := range t.ranges {
		c.KL += r.kl + r.spread
		norm2 += r.norm2
	}
	c.GradNorm = math.Sqrt(norm2)
	c.Finite = compute.Finite(c.GradNorm, c.KL)
	return c
}

func (t *trainer) setAdamW(u Update) {
	o := t.Optimizer
	n := float64(u.Step)
	t.follow = float32(max(slowest, 2/(n+1)))
	t.adamw = kernel.AdamW{
		LR: u.Rate, Beta1: o.Beta1, Beta2: o.Beta2, Eps: o.Epsilon,
		C1: 1 - math.Pow(o.Beta1, n), C2: 1 - math.Pow(o.Beta2, n),
		Clip: 1, KL: u.KL,
	}
	if o.DecayOn != optim.DecayNone {
		t.adamw.DecayMean = o.Decay
	}
	if o.DecayOn == optim.DecayAll {
		t.adamw.DecayRho = o.Decay
	}
}

// settle sets running numbers to those of the first batch, before the first step: networks that were
// not normalised have gradients of a size that AdamW would remember. Numbers of a layer are right once
// those of the layers before are, so it takes as many passes as there are such layers.
func (t *trainer) settle() {
	for _, first := range t.params.Tensors {
		if !first.Running {
			continue
		}
		if s := t.measure(); !s.Finite {
			return
		}
		still := true
		for _, p := range t.params.Tensors {
			if p.Running {
				still = still && kernel.Norm2(p.GMean) <= nearly*kernel.Norm2(p.Mean)
				move(p, 0, p.Len(), 1)
			}
		}
		t.prepare()
		if still {
			return
		}
	}
}

// nearly is the square of a change that is none, beside the square of the numbers.
const nearly = 1e-6

// move moves running numbers towards those of the batch.
func move(p *vi.Tensor[float32], lo, hi int, part float32) {
	for i, g := range p.GMean[lo:hi] {
		p.Mean[lo+i] -= part * g
	}
}

// slowest is the least part of the way that running numbers go in a step towards those of a batch.
// The first steps count more: their means change fast.
const slowest = 0.1

// rangeSize is how many weights of a tensor one update task owns: those whose draws belong together.
const rangeSize = sampling.Piece

// A paramRange is a stretch of one tensor.
type paramRange struct {
	tensor    int
	lo, hi    int
	kl, norm2 float64
	spread    float64 // what priors of single weights add to kl
	finite    bool    // the gradients are finite
	prior     float64 // Σ(σ² + (μ−μ₀)²), if the prior is fitted
}

func paramRanges(p *vi.Params[float32]) []paramRange {
	var ranges []paramRange
	for i, t := range p.Tensors {
		for lo := 0; lo < t.Len(); lo += rangeSize {
			ranges = append(ranges, paramRange{tensor: i, lo: lo, hi: min(t.Len(), lo+rangeSize)})
		}
	}
	return ranges
}

// doNorm computes the KL and the squared norm of the gradient of a range.
func (t *trainer) doNorm(worker, task int) {
	r := &t.ranges[task]
	p := t.params.Tensors[r.tensor]
	if p.Running {
		r.kl, r.norm2 = 0, 0
		return
	}
	if !p.Random {
		r.kl, r.norm2 = 0, kernel.Norm2(p.GMean[r.lo:r.hi])
		return
	}
	a := t.adamw
	a.PriorMean, a.PriorVar = p.Prior.Mean, p.Prior.Std*p.Prior.Std
	r.kl, r.norm2 = kernel.KLNorm(&a, t.centred(worker, p, r), p.Rho[r.lo:r.hi], p.GMean[r.lo:r.hi], p.GVar[r.lo:r.hi])
}

// doCheck checks whether the gradients of a range are finite.
func (t *trainer) doCheck(_, task int) {
	r := &t.ranges[task]
	p := t.params.Tensors[r.tensor]
	r.finite = kernel.AllFinite(p.GMean[r.lo:r.hi]) && (!p.Random || kernel.AllFinite(p.GVar[r.lo:r.hi]))
}

// doUpdate makes the AdamW step of a range. Without clipping, it also computes the KL
// and the norm.
func (t *trainer) doUpdate(worker, task int) {
	r := &t.ranges[task]
	p := t.params.Tensors[r.tensor]
	m1, m2 := t.moments[0].Tensors[r.tensor], t.moments[1].Tensors[r.tensor]
	lo, hi := r.lo, r.hi
	a := t.adamw
	if p.Running {
		r.kl, r.norm2 = 0, 0
		move(p, lo, hi, t.follow)
		return
	}
	if !p.Random {
		if p.NoDecay {
			a.DecayMean = 0
		}
		r.kl, r.norm2 = 0, kernel.Norm2(p.GMean[lo:hi])
		kernel.StepPoint(&a, p.Mean[lo:hi], p.GMean[lo:hi], m1.Mean[lo:hi], m2.Mean[lo:hi])
		return
	}
	a.PriorMean, a.PriorVar = p.Prior.Mean, p.Prior.Std*p.Prior.Std
	mean := t.centred(worker, p, r)
	r.kl, r.norm2 = kernel.StepRandom(&a, &kernel.Tensor[float32]{
		Mu: mean, Rho: p.Rho[lo:hi], GMu: p.GMean[lo:hi], GVar: p.GVar[lo:hi],
		M1Mu: m1.Mean[lo:hi], M2Mu: m2.Mean[lo:hi], M1Rho: m1.Rho[lo:hi], M2Rho: m2.Rho[lo:hi],
	})
	if p.Center != nil {
		for i, c := range p.Center[lo:hi] {
			p.Mean[lo+i] = mean[i] + c
		}
	}
}

// centred are the means of a range from the centre of their prior: the means themselves
// if it has none.
func (t *trainer) centred(worker int, p *vi.Tensor[float32], r *paramRange) []float32 {
	if p.Center == nil {
		return p.Mean[r.lo:r.hi]
	}
	m := t.scratch[worker].means[:r.hi-r.lo]
	for i, c := range p.Center[r.lo:r.hi] {
		m[i] = p.Mean[r.lo+i] - c
	}
	return m
}
