package nn

import (
	"math"

	"utvi/gauss"
	"utvi/internal/compute/kernel"
	"utvi/vi"
)

// Positions adds to each unit a learned Normal of its own, the same for all rows: a token of a
// sequence then carries its place. With Sinusoidal it adds sines and cosines of the place along
// the width instead, of wavelengths from 2π to 2π·10,000 over the channels.
type Positions struct {
	Sinusoidal bool `json:"sinusoidal,omitempty"`
	Fixed      bool `json:"fixed,omitempty"` // what is learned are numbers, not distributions
}

// Kind is "positions", as model files and the names of parameters have it.
func (Positions) Kind() string { return "positions" }

// Bind32 declares a Normal for each unit, unless the positions are sinusoidal.
func (l Positions) Bind32(b *Binder[float32]) (Unit[float32], error) { return bindPositions(l, b) }

// Bind64 is Bind32 in float64, in which gradients are checked.
func (l Positions) Bind64(b *Binder[float64]) (Unit[float64], error) { return bindPositions(l, b) }

type positions[T gauss.Float] struct {
	Stateless
	shape    Shape
	learned  *vi.Tensor[T] // nil: the means are what they are
	mean     []T
	variance []T // nil: what is added are numbers
	in       Form
}

func bindPositions[T gauss.Float](l Positions, b *Binder[T]) (Unit[T], error) {
	u := &positions[T]{shape: b.In, in: b.Form.apart()}
	n := b.In.Size()
	if l.Sinusoidal {
		u.Stateless = Stateless(u.in)
		u.mean = make([]T, n)
		for i := range u.mean {
			place, c := i/b.In.C%b.In.W, i%b.In.C
			angle := float64(place) / math.Pow(10_000, float64(c-c%2)/float64(b.In.C))
			u.mean[i] = T(math.Sin(angle))
			if c%2 == 1 {
				u.mean[i] = T(math.Cos(angle))
			}
		}
		return u, nil
	}
	t, err := b.Random("at", l.Fixed, b.In.C, b.In.H, b.In.W, b.In.C)
	if err != nil {
		return nil, err
	}
	u.learned = t
	u.Stateless = Stateless(u.in.orRandom(t.Random))
	if t.Random {
		u.variance = make([]T, n)
	}
	return u, nil
}

func (u *positions[T]) Out() Shape { return u.shape }

// TapeWidth: the gradients by the means, and by the variances where there are any.
func (u *positions[T]) TapeWidth() int {
	switch {
	case u.learned == nil:
		return 0
	case u.variance == nil:
		return u.shape.Size()
	}
	return 2 * u.shape.Size()
}

func (u *positions[T]) GradTiles() int    { return min(1, u.TapeWidth()) }
func (u *positions[T]) PrepareTiles() int { return u.GradTiles() }

func (u *positions[T]) NewRunner(maxRows int, train bool) Runner[T] {
	n := maxRows * u.shape.Size()
	return &positionsRunner[T]{positions: u, e: make([]T, n), de: make([]T, n)}
}

type positionsRunner[T gauss.Float] struct {
	*positions[T]
	e, de []T // what it adds to the variances of a block, and the gradient that correlations give
}

// Prepare reads what is learned.
func (r *positionsRunner[T]) Prepare(int) {
	r.positions.mean = r.learned.Mean
	if r.variance != nil {
		kernel.Variance(r.variance, r.learned.Rho)
	}
}

func (r *positionsRunner[T]) Forward(p *Pass[T]) {
	n := r.shape.Size()
	for row := range p.In.Rows {
		y := p.Out.Mean[row*n:][:n]
		copy(y, p.In.Mean[row*n:])
		kernel.Add(y, r.mean)
		if p.Out.Var == nil {
			continue
		}
		v := p.Out.Var[row*n:][:n]
		clear(v)
		if p.In.Var != nil {
			copy(v, p.In.Var[row*n:])
		}
		if r.variance != nil {
			kernel.Add(v, r.variance)
		}
	}
}

func (r *positionsRunner[T]) Backward(p *Pass[T]) {
	if p.DIn.Mean != nil {
		copy(p.DIn.Mean, p.DOut.Mean)
		copy(p.DIn.Var, p.DOut.Var)
	}
	n := r.shape.Size()
	for row := range p.DOut.Rows {
		switch {
		case r.learned == nil:
		case r.variance == nil:
			copy(p.Tape[row*n:][:n], p.DOut.Mean[row*n:])
		default:
			tape := p.Tape[row*2*n:][:2*n]
			copy(tape[:n], p.DOut.Mean[row*n:])
			copy(tape[n:], p.DOut.Var[row*n:])
			kernel.Add(tape[n:], r.de[row*n:][:n])
		}
	}
}

func (r *positionsRunner[T]) Gradient(_ int, blocks []Block[T]) {
	n := r.shape.Size()
	columns(blocks, r.TapeWidth(), func(i int, sum float64) {
		if i < n {
			r.learned.GMean[i] = T(sum)
			return
		}
		r.learned.GVar[i-n] = T(sum)
	})
}

// Follow implements Sensitive.
func (u *positions[T]) Follow(int) {}

// Sense: each Normal is of one unit, so that what they add is independent.
func (r *positionsRunner[T]) Sense(s *Sense[T]) {
	s.PassOn()
	if r.variance == nil {
		return
	}
	n := r.shape.Size()
	for row := range s.Rows {
		copy(r.e[row*n:][:n], r.variance)
	}
	for i := 0; i < s.Rows*s.K && s.Weigher != nil; i++ {
		s.Weigher.Direct(s, r.learned, i/s.K, i%s.K, s.Out[i*n:][:n])
	}
	s.AddVariances(r.e, n)
}

func (r *positionsRunner[T]) SenseBack(s *Sense[T]) {
	s.PassOnBack()
	if r.variance != nil {
		s.AddVariancesBack(r.e, r.de, r.shape.Size())
	}
}
