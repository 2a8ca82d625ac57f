package nn

import (
	"fmt"

	"utvi/gauss"
)

// A fork is a Residual with a Skip: the sum of two roads, the branch and the skip. Random
// roads are taken as independent of each other.
type fork[T gauss.Float] struct {
	units[T] // the branch, the skip
	in       Shape
	from, to Form
	k        int // quantities that are followed
}

func bindFork[T gauss.Float](l Layer, branch Unit[T], b *Binder[T]) (Unit[T], error) {
	skip, err := BindChild(l, b, "skip")
	if err != nil {
		return nil, fmt.Errorf("skip: %w", err)
	}
	if err := carries(skip, b, "skip"); err != nil {
		return nil, err
	}
	if branch.Out() != skip.Out() {
		return nil, fmt.Errorf("the branch turns %v into %v, and the skip into %v; both must have outputs of one shape", b.In, branch.Out(), skip.Out())
	}
	return &fork[T]{units: units[T]{branch, skip}, in: b.In, from: b.Form, to: max(branch.Form(), skip.Form()).apart()}, nil
}

func (u *fork[T]) Out() Shape { return u.units[0].Out() }
func (u *fork[T]) Form() Form { return u.to }

// Follow leaves out a road of numbers, which adds nothing.
func (u *fork[T]) Follow(k int) {
	u.k = k
	for _, road := range u.units {
		if road.Form() != Fixed {
			road.(Sensitive[T]).Follow(k)
		}
	}
}

func (u *fork[T]) NewRunner(maxRows int, train bool) Runner[T] {
	n, out := u.in.Size(), u.Out().Size()
	r := &forkRunner[T]{fork: u, runners: make([]Runner[T], 2)}
	for i, road := range u.units {
		r.runners[i], r.outs[i] = road.NewRunner(maxRows, train), gauss.New[T](maxRows, out)
	}
	if train {
		r.din = gauss.New[T](maxRows, n)
	}
	if u.k > 0 {
		r.a[0], r.a[1] = make([]T, maxRows*u.k*n), make([]T, maxRows*u.k*n)
		if train {
			r.b = make([]T, maxRows*u.k*out)
		}
	}
	return r
}

type forkRunner[T gauss.Float] struct {
	*fork[T]
	runners []Runner[T]
	passes  [2]Pass[T]
	outs    [2]gauss.Batch[T]
	din     gauss.Batch[T] // gradients by the input, of the skip
	blocks  []Block[T]

	senses [2]Sense[T]
	a      [2][]T // sensitivities to the input, along each road
	b      []T    // gradients by the sensitivities to the output, of the skip
}

func (r *forkRunner[T]) Prepare(tile int) { r.prepare(r.runners, tile) }

func (r *forkRunner[T]) Gradient(tile int, blocks []Block[T]) {
	r.blocks = r.gradient(r.runners, tile, blocks, r.blocks)
}

func (r *forkRunner[T]) Forward(p *Pass[T]) {
	tape := p.Tape
	for i, road := range r.units {
		q := &r.passes[i]
		q.Seed = p.Seed
		q.Step = p.Step
		q.Row = p.Row
		q.In = p.In
		q.Out = view(r.outs[i], p.In.Rows, p.Out.Width, road.Form())
		if tape != nil {
			n := p.In.Rows * road.TapeWidth()
			q.Tape, tape = tape[:n], tape[n:]
		}
		r.runners[i].Forward(q)
	}
	sum(p.Out.Mean, r.passes[0].Out.Mean, r.passes[1].Out.Mean)
	sum(p.Out.Var, r.passes[0].Out.Var, r.passes[1].Out.Var)
}

func (r *forkRunner[T]) Backward(p *Pass[T]) {
	for i, road := range r.units {
		q := &r.passes[i]
		q.DIn, q.DOut = p.DIn, p.DOut
		if i == 1 && p.DIn.Mean != nil {
			q.DIn = view(r.din, p.DIn.Rows, p.DIn.Width, r.from)
		}
		if road.Form() == Fixed {
			q.DOut.Var = nil
		}
		r.runners[i].Backward(q)
	}
	sum(p.DIn.Mean, p.DIn.Mean, r.passes[1].DIn.Mean)
	sum(p.DIn.Var, p.DIn.Var, r.passes[1].DIn.Var)
}

// Sense adds what both roads pass on: the covariance that they have from their input is
// kept.
func (r *forkRunner[T]) Sense(s *Sense[T]) {
	for i, road := range r.units {
		q := &r.senses[i]
		*q = *s
		q.Pass = &r.passes[i]
		if s.In != nil {
			q.In = r.a[i][:len(s.In)]
			clear(q.In)
		}
		if road.Form() != Fixed {
			r.runners[i].(Senser[T]).Sense(q)
		}
	}
	sum(s.In, r.senses[0].In, r.senses[1].In)
}

func (r *forkRunner[T]) SenseBack(s *Sense[T]) {
	outs := [2][]T{s.BOut, r.b[:len(s.BOut)]}
	for i, road := range r.units {
		q := &r.senses[i]
		q.DCov = s.DCov
		q.BIn = s.BIn
		q.BOut = outs[i]
		clear(q.BOut)
		if road.Form() != Fixed {
			r.runners[i].(Senser[T]).SenseBack(q)
		}
	}
	sum(s.BOut, outs[0], outs[1])
}
