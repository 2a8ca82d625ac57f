package nn

import (
	"fmt"
	"math"

	"utvi/gauss"
	"utvi/internal/special"
	"utvi/vi"
)

// Noise adds a learned variance to each unit, v + σ² with σ = softplus(raw). This is the
// homoscedastic noise of the data; the other variances of the network are heteroscedastic
// or express ignorance.
type Noise struct {
	Start float64 `json:"start,omitempty"` // starting value of every σ; 0 means 0.1
	Off   bool    `json:"off,omitempty"`   // keep the parameters, add nothing
}

// Kind is "noise", as model files and the names of parameters have it.
func (Noise) Kind() string { return "noise" }

// TakesCovariances implements CovarianceTaker: covariances pass the layer.
func (Noise) TakesCovariances() bool { return true }

// Bind32 declares the added standard deviation of each unit, as softplus of a number.
func (l Noise) Bind32(b *Binder[float32]) (Unit[float32], error) { return bindNoise(l, b) }

// Bind64 is Bind32 in float64, in which gradients are checked.
func (l Noise) Bind64(b *Binder[float64]) (Unit[float64], error) { return bindNoise(l, b) }

// WithoutNoise returns the layer with every Noise in it switched off. The parameters
// stay the same, so one set of weights can predict with and without noise.
func WithoutNoise(l Layer) Layer {
	return Rewrite(l, func(l Layer) Layer {
		if n, ok := l.(Noise); ok {
			n.Off = true
			return n
		}
		return l
	})
}

type noise[T gauss.Float] struct {
	in    Form
	shape Shape
	off   bool
	sense bool
	raw   *vi.Tensor[T] // σ = softplus(raw)
	s     []T           // σ², prepared
}

func bindNoise[T gauss.Float](l Noise, b *Binder[T]) (Unit[T], error) {
	start := l.Start
	if start == 0 {
		start = 0.1
	}
	if !(start > 0) || math.IsInf(start, 0) {
		return nil, fmt.Errorf("the standard deviation starts at %v; it must be a number > 0", l.Start)
	}
	n := b.In.Size()
	raw, err := b.Point("noise", special.SoftplusInverse(start), n)
	if err != nil {
		return nil, err
	}
	return &noise[T]{in: b.Form, shape: b.In, off: l.Off, sense: b.Sense, raw: raw, s: make([]T, n)}, nil
}

func (u *noise[T]) Out() Shape        { return u.shape }
func (u *noise[T]) Form() Form        { return u.in.orRandom(!u.off) }
func (u *noise[T]) TapeWidth() int    { return u.shape.Size() }
func (u *noise[T]) GradTiles() int    { return 1 }
func (u *noise[T]) PrepareTiles() int { return 1 }

func (u *noise[T]) NewRunner(maxRows int, train bool) Runner[T] {
	r := noiseRunner[T]{noise: u}
	if u.sense {
		n := maxRows * u.shape.Size()
		r.e, r.de = make([]T, n), make([]T, n)
	}
	return r
}

type noiseRunner[T gauss.Float] struct {
	*noise[T]
	e, de []T // where correlations are carried: σ² of every row, and the gradient by it
}

func (r noiseRunner[T]) Prepare(int) {
	clear(r.s)
	if r.off {
		return
	}
	for i, x := range r.raw.Mean {
		s := special.Softplus(float64(x))
		r.s[i] = T(s * s)
	}
}

func (r noiseRunner[T]) Forward(p *Pass[T]) {
	copy(p.Out.Mean, p.In.Mean)
	w := p.In.Width
	for i := range p.Out.Var {
		v := r.s[i%w]
		if r.in != Fixed {
			v += p.In.Var[i]
		}
		p.Out.Var[i] = v
	}
	scaleCov(p.Out, p.In, one[T]())
}

func one[T gauss.Float]() []T { return []T{1} }

// Backward stores ∂σ² of each row on the tape.
func (r noiseRunner[T]) Backward(p *Pass[T]) {
	clear(p.Tape)
	if !r.off {
		copy(p.Tape, p.DOut.Var)
		for i := range p.Tape[:min(len(p.Tape), len(r.de))] {
			p.Tape[i] += r.de[i]
		}
	}
	if p.DIn.Mean != nil {
		copy(p.DIn.Mean, p.DOut.Mean)
		copy(p.DIn.Var, p.DOut.Var)
		unscaleCov(p.DIn, p.DOut, one[T]())
	}
}

func (u *noise[T]) Follow(int) {}

func (r noiseRunner[T]) Sense(s *Sense[T]) {
	w := len(r.s)
	for i := range s.Rows {
		copy(r.e[i*w:], r.s)
	}
	s.AddVariances(r.e, w)
	s.PassOn()
}

func (r noiseRunner[T]) SenseBack(s *Sense[T]) {
	s.PassOnBack()
	s.AddVariancesBack(r.e, r.de, len(r.s))
}

func (r noiseRunner[T]) Gradient(_ int, blocks []Block[T]) {
	columns(blocks, r.shape.Size(), func(i int, sum float64) {
		x := float64(r.raw.Mean[i])
		r.raw.GMean[i] = T(sum * 2 * special.Softplus(x) * special.Sigmoid(x))
	})
}
