package nn

import (
	"math"

	"utvi/gauss"
	"utvi/vi"
)

// learnedNorm is a BatchNorm that learns. Its mean and variance are running tensors: what stands for
// their gradients is the distance to those of the batch. If the mean of all rows moves, or their
// spread, the statistics follow and undo it; without that in the gradients, weights grow without end.
// The true gradient has the mean over the batch of the gradients by x̂ and by gain·x̂ taken out; here it is
// the running mean, so that rows stay apart (as in Chiley et al., Online Normalization, 2019).
type learnedNorm[T gauss.Float] struct {
	Stateless
	shape                        Shape
	eps                          float64
	sense                        bool
	gain, offset, mean, variance *vi.Tensor[T]
	byGain, byOffset             *vi.Tensor[T] // running gradients by gain and offset, a unit
	inv, slope, constant         []T           // prepared: 1/√(variance + ε), gain·inv, offset − slope·mean
}

func bindLearnedNorm[T gauss.Float](l BatchNorm, b *Binder[T]) (Unit[T], error) {
	eps, err := orEps(l.Eps)
	if err != nil {
		return nil, err
	}
	n := b.In.C
	u := &learnedNorm[T]{Stateless: Stateless(b.Form), shape: b.In, eps: eps, sense: b.Sense && b.Train}
	for _, d := range []struct {
		to    **vi.Tensor[T]
		name  string
		start float64
	}{{&u.gain, "gain", 1}, {&u.offset, "offset", 0}, {&u.mean, "mean", 0}, {&u.variance, "var", 1}, {&u.byGain, "bygain", 0}, {&u.byOffset, "byoffset", 0}} {
		*d.to, err = b.Point(d.name, d.start, n)
		if err != nil {
			return nil, err
		}
	}
	u.mean.Running = true
	u.variance.Running = true
	u.byGain.Running = true
	u.byOffset.Running = true
	u.inv, u.slope = make([]T, n), make([]T, n)
	u.constant = make([]T, n)
	return u, nil
}

func (u *learnedNorm[T]) Out() Shape        { return u.shape }
func (u *learnedNorm[T]) TapeWidth() int    { return 4 * u.shape.C }
func (u *learnedNorm[T]) GradTiles() int    { return 1 }
func (u *learnedNorm[T]) PrepareTiles() int { return 1 }
func (u *learnedNorm[T]) Follow(int)        {}

func (u *learnedNorm[T]) NewRunner(maxRows int, train bool) Runner[T] {
	r := learnedNormRunner[T]{learnedNorm: u}
	if train {
		r.sums = make([]float64, u.TapeWidth())
	}
	if u.sense {
		r.ds = make([]T, maxRows*u.shape.Size())
	}
	return r
}

type learnedNormRunner[T gauss.Float] struct {
	*learnedNorm[T]
	sums []float64 // of a row, as on the tape
	ds   []T       // ∂slope through correlations, rows × units, added by Backward
}

func (r learnedNormRunner[T]) Prepare(int) {
	for i, v := range r.variance.Mean {
		r.inv[i] = T(1 / math.Sqrt(max(0, float64(v))+r.eps))
		r.slope[i] = r.gain.Mean[i] * r.inv[i]
		r.constant[i] = r.offset.Mean[i] - T(r.slope[i]*r.mean.Mean[i])
	}
}

func (r learnedNormRunner[T]) Forward(p *Pass[T]) {
	straight(p, r.slope, r.constant, r.Form())
}

// straight is slope·x + constant, one of each for a channel.
func straight[T gauss.Float](p *Pass[T], slope, constant []T, form Form) {
	n := len(slope)
	for at := 0; at < len(p.In.Mean); at += n {
		m, out := p.In.Mean[at:][:n], p.Out.Mean[at:][:n]
		for c, a := range slope {
			out[c] = T(a*m[c]) + constant[c]
		}
		if form == Fixed {
			continue
		}
		v, to := p.In.Var[at:][:n], p.Out.Var[at:][:n]
		for c, a := range slope {
			to[c] = a * a * v[c]
		}
	}
	scaleCov(p.Out, p.In, slope)
}

// straightBack is the reverse of straight.
func straightBack[T gauss.Float](p *Pass[T], slope []T, form Form) {
	n := len(slope)
	for at := 0; at < len(p.DIn.Mean); at += n {
		g, to := p.DOut.Mean[at:][:n], p.DIn.Mean[at:][:n]
		for c, a := range slope {
			to[c] = a * g[c]
		}
		if form == Fixed {
			continue
		}
		h, dv := p.DOut.Var[at:][:n], p.DIn.Var[at:][:n]
		for c, a := range slope {
			dv[c] = a * a * h[c]
		}
	}
	unscaleCov(p.DIn, p.DOut, slope)
}

// Backward leaves on the tape, for each row and channel, the gradients by gain and offset, and the
// sums over places of d = m − mean and of d² + v.
func (r learnedNormRunner[T]) Backward(p *Pass[T]) {
	size := r.shape.Size()
	for row := range p.In.Rows {
		clear(r.sums)
		for i := range size {
			r.unit(p, row, i)
		}
		for i, x := range r.sums {
			p.Tape[row*len(r.sums)+i] = T(x)
		}
	}
	straightBack(p, r.slope, r.Form())
	r.drift(p)
}

// drift takes from the gradients by the input what the statistics will undo.
func (r learnedNormRunner[T]) drift(p *Pass[T]) {
	n := len(r.slope)
	for i := range p.DIn.Mean {
		c := i % n
		pull := r.slope[c] * r.inv[c] * r.byGain.Mean[c]
		p.DIn.Mean[i] -= r.slope[c]*r.byOffset.Mean[c] + pull*(p.In.Mean[i]-r.mean.Mean[c])
		if r.Form() != Fixed {
			p.DIn.Var[i] -= pull / 2
		}
	}
}

// unit adds what unit i of a row has for the tape.
func (r learnedNormRunner[T]) unit(p *Pass[T], row, i int) {
	n := len(r.slope)
	c := i % n
	at := row*r.shape.Size() + i
	d := float64(p.In.Mean[at]) - float64(r.mean.Mean[c])
	g := float64(p.DOut.Mean[at])
	slope, square := g*d, d*d
	if r.Form() != Fixed {
		v := float64(p.In.Var[at])
		slope += 2 * float64(p.DOut.Var[at]) * float64(r.slope[c]) * v
		square += v
	}
	if p.DOut.Cov != nil {
		slope += slopeGradient(p.In, p.DOut, r.slope, row, i)
	}
	if r.ds != nil {
		slope += float64(r.ds[at])
	}
	r.sums[c] += slope * float64(r.inv[c])
	r.sums[n+c] += g
	r.sums[2*n+c] += d
	r.sums[3*n+c] += square
}

func (r learnedNormRunner[T]) Sense(s *Sense[T]) { s.PassOnScaled(r.slope) }

func (r learnedNormRunner[T]) SenseBack(s *Sense[T]) {
	if s.BIn == nil {
		clear(r.ds)
	}
	s.PassOnScaledBack(r.slope, r.ds)
}

func (r learnedNormRunner[T]) Gradient(_ int, blocks []Block[T]) {
	n := len(r.slope)
	rows := 0
	for _, b := range blocks {
		rows += b.Rows
	}
	count := float64(max(1, rows) * r.shape.H * r.shape.W)
	columns(blocks, 4*n, func(i int, sum float64) {
		c := i % n
		switch i / n {
		case 0:
			r.gain.GMean[c] = T(sum)
			r.byGain.GMean[c] = r.byGain.Mean[c] - T(sum/count)
		case 1:
			r.offset.GMean[c] = T(sum)
			r.byOffset.GMean[c] = r.byOffset.Mean[c] - T(sum/count)
		case 2:
			r.mean.GMean[c] = T(-sum / count)
		case 3:
			shift := float64(r.mean.GMean[c])
			r.variance.GMean[c] = T(float64(r.variance.Mean[c]) - max(0, sum/count-shift*shift))
		}
	})
}
