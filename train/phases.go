package train

import (
	"utvi/gauss"
	"utvi/internal/compute"
	"utvi/vi"
)

// The phases of a step, each run on the pool. See DESIGN.md.

// doBlock carries a block of rows forward, scores it and carries it back.
func (t *Trainer) doBlock(worker, task int) {
	l, b := &t.lanes[worker], &t.blocks[task]
	lo := task * t.block
	hi := lo + b.Rows
	l.pass.Seed, l.pass.Step, l.pass.Row = t.seed, uint64(t.step+1), uint64(lo)
	l.pass.In, l.pass.Out = l.in.Slice(0, b.Rows), l.out.Slice(0, b.Rows)
	l.pass.DOut, l.pass.DIn = l.dout.Slice(0, b.Rows), gauss.Batch[float32]{}
	l.pass.Tape = b.Tape
	det := b.Det && !t.unit.Random()
	if det {
		l.pass.Out.Var, l.pass.DOut.Var = nil, nil
	}
	y := l.y[:b.Rows*t.config.Data.Targets()]
	t.config.Data.Fill(lo, hi, l.pass.In, y)
	l.runner.Forward(&l.pass)
	for i := range b.Rows {
		t.score(l, lo+i, i)
	}
	l.runner.Backward(&l.pass)
}

// score computes the likelihood of row i of a lane's block, row of the batch,
// and its gradient.
func (t *Trainer) score(l *lane, row, i int) {
	w, k := t.net.Outputs(), t.config.Data.Targets()
	y, mean := l.row[:k], l.row[k:k+w]
	variance, dmean, dvar := l.row[k+w:k+2*w], l.row[k+2*w:k+3*w], l.row[k+3*w:k+4*w]
	for j := range y {
		y[j] = float64(l.y[i*k+j])
	}
	out, dout := l.pass.Out, l.pass.DOut
	for j := range mean {
		mean[j] = float64(out.Mean[i*w+j])
		if out.Var != nil {
			variance[j] = float64(out.Var[i*w+j])
		}
	}
	t.nll[row], t.floors[row] = t.config.Likelihood.Row(y, mean, variance, dmean, dvar)
	scale := 1 / float64(t.config.Batch)
	for j := range mean {
		dout.Mean[i*w+j] = float32(dmean[j] * scale)
		if dout.Var != nil {
			dout.Var[i*w+j] = float32(dvar[j] * scale)
		}
	}
}

func (t *Trainer) doGrad(worker, tile int) { t.lanes[worker].runner.Gradient(tile, t.blocks) }

func (t *Trainer) doPrepare(worker, tile int) { t.lanes[worker].runner.Prepare(tile) }

// rangeSize is how many weights of a tensor one update task owns.
const rangeSize = 4096

// A paramRange is a stretch of one tensor.
type paramRange struct {
	tensor    int
	lo, hi    int
	kl, norm2 float64
	tame      bool    // its gradients are finite
	size      float64 // Σ(σ² + (μ−μ₀)²), where the prior is fitted
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
func (t *Trainer) doNorm(_, task int) {
	r := &t.ranges[task]
	p := t.params.Tensors[r.tensor]
	if !p.Random {
		r.kl, r.norm2 = 0, compute.Norm2(p.GMean[r.lo:r.hi])
		return
	}
	a := t.adamw
	a.PriorMean, a.PriorVar = p.Prior.Mean, p.Prior.Std*p.Prior.Std
	r.kl, r.norm2 = compute.KLNorm(&a, p.Mean[r.lo:r.hi], p.Rho[r.lo:r.hi], p.GMean[r.lo:r.hi], p.GVar[r.lo:r.hi])
}

// doCheck looks for gradients that no step may be made with.
func (t *Trainer) doCheck(_, task int) {
	r := &t.ranges[task]
	p := t.params.Tensors[r.tensor]
	r.tame = compute.Tame(p.GMean[r.lo:r.hi]) && (!p.Random || compute.Tame(p.GVar[r.lo:r.hi]))
}

// doUpdate makes the AdamW step of a range. Without clipping its KL and norm are
// found on the way.
func (t *Trainer) doUpdate(_, task int) {
	r := &t.ranges[task]
	p := t.params.Tensors[r.tensor]
	m1, m2 := t.moments[0].Tensors[r.tensor], t.moments[1].Tensors[r.tensor]
	lo, hi := r.lo, r.hi
	a := t.adamw
	if !p.Random {
		if p.Bare {
			a.DecayMean = 0
		}
		r.kl, r.norm2 = 0, compute.Norm2(p.GMean[lo:hi])
		compute.StepPoint(&a, p.Mean[lo:hi], p.GMean[lo:hi], m1.Mean[lo:hi], m2.Mean[lo:hi])
		return
	}
	a.PriorMean, a.PriorVar = p.Prior.Mean, p.Prior.Std*p.Prior.Std
	r.kl, r.norm2 = compute.StepRandom(&a, p.Mean[lo:hi], p.Rho[lo:hi], p.GMean[lo:hi], p.GVar[lo:hi],
		m1.Mean[lo:hi], m2.Mean[lo:hi], m1.Rho[lo:hi], m2.Rho[lo:hi])
}
