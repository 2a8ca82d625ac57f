package nn

import (
	"fmt"
	"math"

	"utvi/gauss"
	"utvi/internal/special"
	"utvi/vi"
)

// Scale divides every unit by its own learned a > 0: mean m/a, variance v/a². It is the
// scale of the paper's output chain, sigmoid(x/a).
type Scale struct {
	Start float64 `json:"start,omitempty"` // starting value of every a; 0 means 1
}

// Kind is "scale", as model files and the names of parameters have it.
func (Scale) Kind() string { return "scale" }

// TakesCovariances implements CovarianceTaker: covariances pass the layer.
func (Scale) TakesCovariances() bool { return true }

// Bind32 declares the scale of each unit.
func (l Scale) Bind32(b *Binder[float32]) (Unit[float32], error) { return bindScale(l, b) }

// Bind64 is Bind32 in float64, in which gradients are checked.
func (l Scale) Bind64(b *Binder[float64]) (Unit[float64], error) { return bindScale(l, b) }

type scale[T gauss.Float] struct {
	Stateless
	shape Shape
	raw   *vi.Tensor[T] // a = softplus(raw)
	a     []T           // prepared
	inv   []T           // 1/a
}

func bindScale[T gauss.Float](l Scale, b *Binder[T]) (Unit[T], error) {
	start := l.Start
	if start == 0 {
		start = 1
	}
	if !(start > 0) || math.IsInf(start, 0) {
		return nil, fmt.Errorf("the scale starts at %v; it must be a number > 0", l.Start)
	}
	n := b.In.Size()
	raw, err := b.Point("a", special.SoftplusInverse(start), n)
	if err != nil {
		return nil, err
	}
	return &scale[T]{Stateless: Stateless(b.Form), shape: b.In, raw: raw, a: make([]T, n), inv: make([]T, n)}, nil
}

func (u *scale[T]) Out() Shape        { return u.shape }
func (u *scale[T]) TapeWidth() int    { return u.shape.Size() }
func (u *scale[T]) GradTiles() int    { return 1 }
func (u *scale[T]) PrepareTiles() int { return 1 }

func (u *scale[T]) NewRunner(maxRows int, train bool) Runner[T] {
	r := scaleRunner[T]{scale: u}
	if train {
		r.da = make([]T, maxRows*u.shape.Size())
	}
	return r
}

type scaleRunner[T gauss.Float] struct {
	*scale[T]
	da []T // ∂a through correlations, added by Backward
}

func (r scaleRunner[T]) Prepare(int) {
	for i, x := range r.raw.Mean {
		r.a[i] = T(special.Softplus(float64(x)))
		r.inv[i] = 1 / r.a[i]
	}
}

func (r scaleRunner[T]) Forward(p *Pass[T]) {
	w := p.In.Width
	for i, m := range p.In.Mean {
		a := r.a[i%w]
		p.Out.Mean[i] = m / a
		if r.Form() != Fixed {
			p.Out.Var[i] = p.In.Var[i] / (a * a)
		}
	}
	scaleCov(p.Out, p.In, r.inv)
}

// Backward stores ∂a of each row on the tape: −(g·m' + 2h·v')/a.
func (r scaleRunner[T]) Backward(p *Pass[T]) {
	w := p.DOut.Width
	for i, g := range p.DOut.Mean {
		a := r.a[i%w]
		d := g * p.Out.Mean[i]
		if r.Form() != Fixed {
			d += 2 * p.DOut.Var[i] * p.Out.Var[i]
		}
		p.Tape[i] = -d/a + r.da[i]
		if p.DOut.Cov != nil {
			p.Tape[i] -= T(slopeGradient(p.In, p.DOut, r.inv, i/w, i%w)) * r.inv[i%w] * r.inv[i%w]
		}
		if p.DIn.Mean == nil {
			continue
		}
		p.DIn.Mean[i] = g / a
		if r.Form() != Fixed {
			p.DIn.Var[i] = p.DOut.Var[i] / (a * a)
		}
	}
	unscaleCov(p.DIn, p.DOut, r.inv)
}

func (u *scale[T]) Follow(int)             {}
func (r scaleRunner[T]) Sense(s *Sense[T]) { s.PassOnScaled(r.inv) }

func (r scaleRunner[T]) SenseBack(s *Sense[T]) {
	s.PassOnScaledBack(r.inv, nil)
	w := len(r.inv)
	clear(r.da)
	for i, b := range s.BIn {
		g := r.inv[i%w]
		r.da[i/(s.K*w)*w+i%w] -= T(b*s.Out[i]) * T(g*g)
	}
}

func (r scaleRunner[T]) Gradient(_ int, blocks []Block[T]) {
	columns(blocks, r.shape.Size(), func(i int, sum float64) {
		r.raw.GMean[i] = T(sum * special.Sigmoid(float64(r.raw.Mean[i])))
	})
}
