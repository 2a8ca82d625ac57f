package nn

import (
	"fmt"

	"utvi/gauss"
	"utvi/internal/compute"
)

// Multiply multiplies unit i by the fixed number By[i]: mean b·m, variance b²·v.
// Use it to give outputs their units. Scale has a learned factor.
type Multiply struct {
	By []float64 `json:"by"`
}

// Kind is "multiply", as model files and the names of parameters have it.
func (Multiply) Kind() string { return "multiply" }

// TakesCovariances implements CovarianceTaker: covariances pass the layer.
func (Multiply) TakesCovariances() bool { return true }

// Bind32 checks that there is a factor for each unit; it declares nothing.
func (l Multiply) Bind32(b *Binder[float32]) (Unit[float32], error) { return bindMultiply(l, b) }

// Bind64 is Bind32 in float64, in which gradients are checked.
func (l Multiply) Bind64(b *Binder[float64]) (Unit[float64], error) { return bindMultiply(l, b) }

type multiply[T gauss.Float] struct {
	Stateless
	shape Shape
	by    []T
}

func bindMultiply[T gauss.Float](l Multiply, b *Binder[T]) (Unit[T], error) {
	if n := b.In.Size(); len(l.By) != n {
		return nil, fmt.Errorf("%d factors for %d units; each unit needs one", len(l.By), n)
	}
	u := &multiply[T]{Stateless: Stateless(b.Form), shape: b.In, by: make([]T, len(l.By))}
	compute.Convert(u.by, l.By)
	for i, by := range u.by {
		if by == 0 || !compute.Finite(by) {
			return nil, fmt.Errorf("factor %d is %v; it must be a finite number other than 0", i, l.By[i])
		}
	}
	return u, nil
}

func (u *multiply[T]) Out() Shape { return u.shape }

func (u *multiply[T]) NewRunner(int, bool) Runner[T] { return multiplyRunner[T]{u, Weightless[T]{}} }

type multiplyRunner[T gauss.Float] struct {
	*multiply[T]
	Weightless[T]
}

func (r multiplyRunner[T]) Forward(p *Pass[T]) {
	r.times(p.Out.Mean, p.Out.Var, p.In.Mean, p.In.Var)
	scaleCov(p.Out, p.In, r.by)
}

func (r multiplyRunner[T]) Backward(p *Pass[T]) {
	if p.DIn.Mean != nil {
		r.times(p.DIn.Mean, p.DIn.Var, p.DOut.Mean, p.DOut.Var)
		unscaleCov(p.DIn, p.DOut, r.by)
	}
}

func (u *multiply[T]) Follow(int)                 {}
func (r multiplyRunner[T]) Sense(s *Sense[T])     { s.PassOnScaled(r.by) }
func (r multiplyRunner[T]) SenseBack(s *Sense[T]) { s.PassOnScaledBack(r.by, nil) }

// times is its own adjoint: means by b, variances by b².
func (r multiplyRunner[T]) times(mean, variance, m, v []T) {
	w := len(r.by)
	for i := range m {
		mean[i] = m[i] * r.by[i%w]
	}
	for i := range v {
		by := r.by[i%w]
		variance[i] = v[i] * (by * by)
	}
}
