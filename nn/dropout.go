package nn

import (
	"fmt"

	"utvi/gauss"
)

// Dropout propagates the moments of dropout, which keeps each unit with probability 1−P,
// scaled to x/(1−P), and sets it to 0 otherwise: mean m, variance (v + P·m²)/(1−P).
// Nothing is drawn, neither in training nor in prediction.
type Dropout struct {
	P float64 `json:"p"`
}

// Kind is "dropout", as model files and the names of parameters have it.
func (Dropout) Kind() string { return "dropout" }

// TakesCovariances implements CovarianceTaker: covariances pass the layer.
func (Dropout) TakesCovariances() bool { return true }

// Bind32 checks the probability; it declares nothing.
func (l Dropout) Bind32(b *Binder[float32]) (Unit[float32], error) { return bindDropout(l, b) }

// Bind64 is Bind32 in float64, in which gradients are checked.
func (l Dropout) Bind64(b *Binder[float64]) (Unit[float64], error) { return bindDropout(l, b) }

type dropout[T gauss.Float] struct {
	Stateless
	in      Form
	shape   Shape
	p, keep T
	sense   bool
}

func bindDropout[T gauss.Float](l Dropout, b *Binder[T]) (Unit[T], error) {
	if !(l.P >= 0 && l.P < 1) {
		return nil, fmt.Errorf("the probability P is %v; it must be at least 0 and less than 1", l.P)
	}
	return &dropout[T]{Stateless: Stateless(b.Form.orRandom(l.P > 0)), in: b.Form, shape: b.In, p: T(l.P), keep: T(1 - l.P), sense: b.Sense}, nil
}

func (u *dropout[T]) Out() Shape { return u.shape }

func (u *dropout[T]) NewRunner(maxRows int, train bool) Runner[T] {
	r := &dropoutRunner[T]{dropout: u}
	if u.sense {
		n := maxRows * u.shape.Size()
		r.e, r.de = make([]T, n), make([]T, n)
	}
	return r
}

type dropoutRunner[T gauss.Float] struct {
	*dropout[T]
	Weightless[T]
	e, de []T // where correlations are carried: what dropping adds, and the gradient by it
}

func (u *dropoutRunner[T]) Forward(p *Pass[T]) {
	copy(p.Out.Mean, p.In.Mean)
	for i := range p.Out.Var {
		m := p.In.Mean[i]
		v := T(u.p*m) * m
		if u.in != Fixed {
			v += p.In.Var[i]
		}
		p.Out.Var[i] = v / u.keep
	}
	scaleCov(p.Out, p.In, one[T]())
	for i := range u.e[:min(len(u.e), len(p.Out.Var))] {
		u.e[i] = p.Out.Var[i] // v + P/(1−P)·(m² + v)
		if u.in != Fixed {
			u.e[i] -= p.In.Var[i]
		}
	}
}

func (u *dropoutRunner[T]) Backward(p *Pass[T]) {
	for i := range p.DIn.Mean {
		g := p.DOut.Mean[i]
		if u.Form() != Fixed {
			h := p.DOut.Var[i] / u.keep
			g += 2 * u.p * p.In.Mean[i] * h
			if u.in != Fixed {
				p.DIn.Var[i] = h
			}
		}
		if u.sense {
			d := u.de[i] * u.p / u.keep
			g += 2 * p.In.Mean[i] * d
			if u.in != Fixed {
				p.DIn.Var[i] += d
			}
		}
		p.DIn.Mean[i] = g
	}
	unscaleCov(p.DIn, p.DOut, one[T]())
}

func (u *dropout[T]) Follow(int) {}

func (u *dropoutRunner[T]) Sense(s *Sense[T]) {
	s.AddVariances(u.e, u.shape.Size())
	s.PassOn()
}

func (u *dropoutRunner[T]) SenseBack(s *Sense[T]) {
	s.PassOnBack()
	s.AddVariancesBack(u.e, u.de, u.shape.Size())
}
