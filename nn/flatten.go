package nn

import "utvi/gauss"

// Flatten turns an image into a vector, in the order height, width, channel.
type Flatten struct{}

// Kind is "flatten", as model files and the names of parameters have it.
func (Flatten) Kind() string { return "flatten" }

// TakesCovariances implements CovarianceTaker: covariances pass the layer.
func (Flatten) TakesCovariances() bool { return true }

// Bind32 turns the shape into a vector; it declares nothing.
func (Flatten) Bind32(b *Binder[float32]) (Unit[float32], error) { return bindFlatten(b) }

// Bind64 is Bind32 in float64, in which gradients are checked.
func (Flatten) Bind64(b *Binder[float64]) (Unit[float64], error) { return bindFlatten(b) }

type flatten[T gauss.Float] struct {
	Stateless
	Weightless[T]
	width int
}

func bindFlatten[T gauss.Float](b *Binder[T]) (Unit[T], error) {
	return flatten[T]{Stateless: Stateless(b.Form), width: b.In.Size()}, nil
}

func (u flatten[T]) Out() Shape                    { return Vec(u.width) }
func (u flatten[T]) NewRunner(int, bool) Runner[T] { return u }

func (u flatten[T]) Forward(p *Pass[T]) {
	copy(p.Out.Mean, p.In.Mean)
	copy(p.Out.Var, p.In.Var)
	copy(p.Out.Cov, p.In.Cov)
}

func (u flatten[T]) Backward(p *Pass[T]) {
	copy(p.DIn.Mean, p.DOut.Mean)
	copy(p.DIn.Var, p.DOut.Var)
	clear(p.DIn.Cov)
	copy(p.DIn.Cov, p.DOut.Cov)
}

func (u flatten[T]) Follow(int)            {}
func (u flatten[T]) Sense(s *Sense[T])     { s.PassOn() }
func (u flatten[T]) SenseBack(s *Sense[T]) { s.PassOnBack() }
