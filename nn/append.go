package nn

import (
	"fmt"

	"utvi/gauss"
	"utvi/internal/compute"
	"utvi/vi"
)

// Append appends learned numbers to the units of each row. They are the same for all
// rows: parameters of a likelihood, such as a common noise variance.
type Append struct {
	Count int     `json:"count"`
	Start float64 `json:"start,omitempty"` // starting value of every number
}

// Kind is "append", as model files and the names of parameters have it.
func (Append) Kind() string { return "append" }

// Bind32 declares the numbers.
func (l Append) Bind32(b *Binder[float32]) (Unit[float32], error) { return bindAppend(l, b) }

// Bind64 is Bind32 in float64, in which gradients are checked.
func (l Append) Bind64(b *Binder[float64]) (Unit[float64], error) { return bindAppend(l, b) }

type appended[T gauss.Float] struct {
	Stateless
	in      int
	numbers *vi.Tensor[T]
}

func bindAppend[T gauss.Float](l Append, b *Binder[T]) (Unit[T], error) {
	if l.Count < 1 || l.Count > maxWeights {
		return nil, fmt.Errorf("%d numbers to append; there must be 1 to %d", l.Count, maxWeights)
	}
	if !compute.Finite(l.Start) {
		return nil, fmt.Errorf("the numbers start at %v; it must be a finite number", l.Start)
	}
	t, err := b.Point("numbers", l.Start, l.Count)
	if err != nil {
		return nil, err
	}
	return &appended[T]{Stateless: Stateless(b.Form.apart()), in: b.In.Size(), numbers: t}, nil
}

func (u *appended[T]) Out() Shape     { return Vec(u.in + u.numbers.Len()) }
func (u *appended[T]) TapeWidth() int { return u.numbers.Len() }
func (u *appended[T]) GradTiles() int { return 1 }

func (u *appended[T]) NewRunner(int, bool) Runner[T] {
	return appendRunner[T]{appended: u}
}

type appendRunner[T gauss.Float] struct{ *appended[T] }

func (appendRunner[T]) Prepare(int) {}

func (r appendRunner[T]) Forward(p *Pass[T]) {
	n, w := r.in, p.Out.Width
	for row := range p.In.Rows {
		copy(p.Out.Mean[row*w:], p.In.Mean[row*n:(row+1)*n])
		copy(p.Out.Mean[row*w+n:(row+1)*w], r.numbers.Mean)
		if r.Form() != Fixed {
			copy(p.Out.Var[row*w:], p.In.Var[row*n:(row+1)*n])
			clear(p.Out.Var[row*w+n : (row+1)*w])
		}
	}
}

// Backward stores the gradient by the numbers of each row on the tape.
func (r appendRunner[T]) Backward(p *Pass[T]) {
	n, w := r.in, p.DOut.Width
	for row := range p.DOut.Rows {
		copy(p.Tape[row*(w-n):], p.DOut.Mean[row*w+n:(row+1)*w])
		if p.DIn.Mean == nil {
			continue
		}
		copy(p.DIn.Mean[row*n:(row+1)*n], p.DOut.Mean[row*w:])
		if r.Form() != Fixed {
			copy(p.DIn.Var[row*n:(row+1)*n], p.DOut.Var[row*w:])
		}
	}
}

func (r appendRunner[T]) Gradient(_ int, blocks []Block[T]) {
	columns(blocks, r.numbers.Len(), func(i int, sum float64) { r.numbers.GMean[i] = T(sum) })
}
