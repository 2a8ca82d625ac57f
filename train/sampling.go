package train

import (
	"errors"
	"fmt"
	"math"

	"utvi/internal/compute"
	"utvi/model"
	"utvi/nn"
	"utvi/vi"
)

// sampling estimates the expected loss by drawing whole networks (Bayes by
// backprop, Blundell et al. 2015), where moment propagation computes it. A draw
// has the weights w = μ + σε, one ε for each weight and draw, the same for every
// row; with g = ∂loss/∂w, averaged over the draws,
//
//	∂/∂μ = g        ∂/∂s = g·ε/(2σ),   s = σ²
//
// ε is keyed by (seed, step, draw) and counted by (tensor, weight). Variances of
// inputs and of nn.Noise are not drawn: they are propagated, as ever.
type sampling struct {
	draws  int
	drawn  *vi.Params[float32] // of the network with numbers for weights
	eps    [][]float32         // of every random tensor, in fours
	sigma  [][]float32
	number int // of the draw under way

	runSigma, runDraw, runGather func(worker, task int)
}

// sample makes t train by draws: its unit is then the network of numbers.
func (t *Trainer) sample(m *model.Model) error {
	c := t.config
	b := &nn.Binder[float32]{Params: &vi.Params[float32]{}, In: m.Config.Input, Train: true, Fixed: true}
	unit, err := nn.Bind(m.Config.Layers, b)
	if err != nil {
		return fmt.Errorf("train: %w", err)
	}
	if c.Likelihood.NeedsVariance() && !unit.Random() && !c.Data.Uncertain() {
		return fmt.Errorf("train: a network of drawn weights predicts numbers, and the %v likelihood needs a variance to score them with: end the network in nn.Noise, or learn the noise with likelihood.Heteroscedastic", c.Likelihood)
	}
	s := &sampling{draws: c.Draws, drawn: b.Params, runSigma: t.doSigma, runDraw: t.doDraw, runGather: t.doGather}
	if len(s.drawn.Tensors) != len(t.params.Tensors) {
		return errors.New("train: the network cannot be drawn: with numbers for weights it has other parameters")
	}
	s.drawn.Alloc()
	s.drawn.AllocGrads()
	s.eps, s.sigma = make([][]float32, len(t.params.Tensors)), make([][]float32, len(t.params.Tensors))
	for i, x := range t.params.Tensors {
		d := s.drawn.Tensors[i]
		if d.Random || d.Name != x.Name || d.Len() != x.Len() {
			return fmt.Errorf("train: the network cannot be drawn: %s has no numbers to take its place", x.Name)
		}
		if !x.Random {
			d.Mean = x.Mean // numbers as they are
			continue
		}
		s.eps[i], s.sigma[i] = make([]float32, (x.Len()+3)/4*4), make([]float32, x.Len())
	}
	t.unit, t.sampling = unit, s
	return nil
}

// drawBatch carries the batch through every drawn network and leaves the mean
// gradients; it reports whether all scores are finite.
func (t *Trainer) drawBatch(s *Step) bool {
	d := t.sampling
	t.pool.Run(len(t.ranges), d.runSigma)
	for d.number = range d.draws {
		t.pool.Run(len(t.ranges), d.runDraw)
		t.pool.Run(t.unit.PrepareTiles(), t.runPrepare)
		if !t.scoreBatch(s) {
			return false
		}
		t.pool.Run(len(t.ranges), d.runGather)
	}
	s.NLL /= float64(d.draws)
	return true
}

// leastSigma keeps ε/(2σ) finite.
const leastSigma = 1e-18

func (t *Trainer) doSigma(_, task int) {
	r := &t.ranges[task]
	x := t.params.Tensors[r.tensor]
	if !x.Random {
		return
	}
	sigma := t.sampling.sigma[r.tensor][r.lo:r.hi]
	compute.Variance(sigma, x.Rho[r.lo:r.hi])
	for i, v := range sigma {
		sigma[i] = max(float32(math.Sqrt(float64(v))), leastSigma)
	}
}

// drawLayer is where the draws' streams begin, beyond those of the layers.
const drawLayer = 1 << 31

// doDraw draws a range of weights. A range begins at a multiple of four, and four
// samples of a unit are one block of the stream.
func (t *Trainer) doDraw(_, task int) {
	r, s := &t.ranges[task], t.sampling
	x := t.params.Tensors[r.tensor]
	if !x.Random {
		return
	}
	key := t.seed.Sub(uint64(t.step+1), drawLayer|uint32(s.number))
	n := r.hi - r.lo
	quads := (n + 3) / 4
	eps := s.eps[r.tensor][r.lo:][:4*quads]
	compute.Normals(eps, key, uint64(r.tensor), r.lo/4, quads, 4)
	mean, sigma, w := x.Mean[r.lo:r.hi], s.sigma[r.tensor][r.lo:r.hi], s.drawn.Tensors[r.tensor].Mean[r.lo:r.hi]
	for i, e := range eps[:n] {
		w[i] = mean[i] + float32(sigma[i]*e)
	}
}

// doGather adds the gradients of a range to their mean over the draws.
func (t *Trainer) doGather(_, task int) {
	r, s := &t.ranges[task], t.sampling
	x, d := t.params.Tensors[r.tensor], s.drawn.Tensors[r.tensor]
	share := 1 / float32(s.draws)
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
	gv, eps, sigma := x.GVar[r.lo:r.hi], s.eps[r.tensor][r.lo:r.hi], s.sigma[r.tensor][r.lo:r.hi]
	if s.number == 0 {
		clear(gv)
	}
	for i, g := range g {
		gv[i] += float32(float32(g*share) * float32(eps[i]/(2*sigma[i])))
	}
}
