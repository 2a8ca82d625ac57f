package engine

import (
	"utvi/engine/internal/sampling"
	"utvi/nn"
	"utvi/vi"
)

// draws estimates the expected loss by drawing whole networks (Bayes by
// backprop, Blundell et al. 2015), where moment propagation computes it. A draw
// has the weights w = μ + σε, one ε for each weight and draw, the same for every
// row; with g = ∂loss/∂w, averaged over the draws,
//
//	∂/∂μ = g        ∂/∂s = g·ε/(2σ),   s = σ²
//
// ε is keyed by (seed, step, draw) and counted by (tensor, weight). Variances of
// inputs and of nn.Noise are not drawn: they are propagated, as usual.
type draws struct {
	drawn  *vi.Params[float32] // of the network whose weights are numbers
	eps    [][]float32         // of every random tensor, in fours
	sigma  [][]float32
	number int // of the current draw

	runSigma, runDraw, runGather func(worker, task int)
}

// draw makes t train with drawn weights: its unit is then the network with numbers for
// weights.
func (t *trainer) draw() error {
	net := t.net
	net.Fixed, net.Params = true, &vi.Params[float32]{}
	b := &nn.Binder[float32]{Form: t.form, Train: true}
	unit, err := Bind(net, b)
	if err != nil {
		return err
	}
	if err := sampling.Check(b.Params, t.params, unit.Form(), t.Likelihood); err != nil {
		return err
	}
	s := &draws{drawn: b.Params, runSigma: t.doSigma, runDraw: t.doDraw, runGather: t.doGather}
	s.drawn.Alloc()
	s.drawn.AllocGrads()
	s.eps, s.sigma = make([][]float32, len(t.params.Tensors)), make([][]float32, len(t.params.Tensors))
	for i, x := range t.params.Tensors {
		if !x.Random {
			s.drawn.Tensors[i].Mean = x.Mean // numbers as they are
			continue
		}
		s.eps[i], s.sigma[i] = make([]float32, (x.Len()+3)/4*4), make([]float32, x.Len())
	}
	t.unit, t.draws = unit, s
	return nil
}

// drawBatch runs the batch through every drawn network and stores the mean gradients.
func (t *trainer) drawBatch() (s Score) {
	d := t.draws
	t.Pool.Run(len(t.ranges), d.runSigma)
	for d.number = range t.Draws {
		t.Pool.Run(len(t.ranges), d.runDraw)
		t.Pool.Run(t.unit.PrepareTiles(), t.runPrepare)
		if t.scoreBatch(&s); !s.Finite {
			return s
		}
		t.Pool.Run(len(t.ranges), d.runGather)
	}
	s.NLL /= float64(t.Draws)
	return s
}

func (t *trainer) doSigma(_, task int) {
	r := &t.ranges[task]
	if x := t.params.Tensors[r.tensor]; x.Random {
		x.Sigma(t.draws.sigma[r.tensor][r.lo:r.hi], r.lo)
	}
}

// doDraw draws a range of weights. A range begins at a multiple of four, and four
// samples of a unit are one block of the stream.
func (t *trainer) doDraw(_, task int) {
	r, s := &t.ranges[task], t.draws
	x := t.params.Tensors[r.tensor]
	if !x.Random {
		return
	}
	key := t.Seed.Sub(uint64(t.step), sampling.Layer|uint32(s.number))
	x.Draw(key, r.tensor, r.lo, s.sigma[r.tensor][r.lo:r.hi], s.drawn.Tensors[r.tensor].Mean[r.lo:r.hi], s.eps[r.tensor][r.lo:])
}

// doGather adds the gradients of a range to their mean over the draws.
func (t *trainer) doGather(_, task int) {
	r, s := &t.ranges[task], t.draws
	x, d := t.params.Tensors[r.tensor], s.drawn.Tensors[r.tensor]
	share := 1 / float32(t.Draws)
	g, gm := d.GMean[r.lo:r.hi], x.GMean[r.lo:r.hi]
	if s.number == 0 {
		clear(gm)
	}
	for i, g := range g {
		gm[i] += float32(g * share)
	}
	if !x.Random {
		return
	}
	gv := x.GVar[r.lo:r.hi]
	eps := s.eps[r.tensor][r.lo:r.hi]
	sigma := s.sigma[r.tensor][r.lo:r.hi]
	if s.number == 0 {
		clear(gv)
	}
	for i, g := range g {
		gv[i] += float32(float32(g*share) * float32(eps[i]/(2*sigma[i])))
	}
}
