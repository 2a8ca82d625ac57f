package nn

import (
	"utvi/gauss"
	"utvi/internal/compute/kernel"
)

// bidirectional is a recurrent layer that goes both ways.
type bidirectional[T gauss.Float] struct {
	units[T] // forward, reverse
	in       Shape
	form     Form // of the input
	k        int  // quantities that are followed
}

func (u *bidirectional[T]) Out() Shape {
	s := u.units[0].Out()
	s.C *= 2
	return s
}

func (u *bidirectional[T]) Form() Form { return u.units[0].Form() }

func (u *bidirectional[T]) NewRunner(maxRows int, train bool) Runner[T] {
	r := &bidirectionalRunner[T]{bidirectional: u, width: u.units[0].Out().C}
	for i, unit := range u.units {
		r.runners = append(r.runners, unit.NewRunner(maxRows, train))
		w := &r.ways[i]
		w.out = newBatch[T](maxRows, unit.Out().Size())
		if train {
			w.dout = newBatch[T](maxRows, unit.Out().Size())
		}
		if u.k > 0 {
			w.a = make([]T, maxRows*u.k*unit.Out().Size())
			w.b = make([]T, maxRows*u.k*unit.Out().Size())
		}
	}
	if train {
		r.din = newBatch[T](maxRows, u.in.Size())
	}
	if u.k > 0 && u.form != Fixed {
		r.in = make([]T, maxRows*u.k*u.in.Size())
	}
	return r
}

// A way is one direction, with its outputs and the gradients by them.
type way[T gauss.Float] struct {
	pass      Pass[T]
	out, dout gauss.Batch[T]
	a, b      []T // sensitivities to the outputs, and the gradients by them
	sense     Sense[T]
}

type bidirectionalRunner[T gauss.Float] struct {
	*bidirectional[T]
	runners []Runner[T]
	ways    [2]way[T]
	width   int            // of one way at one time
	din     gauss.Batch[T] // the gradient by the input of the way back
	in      []T            // sensitivities to the input of the way back
	blocks  []Block[T]
}

func (r *bidirectionalRunner[T]) Prepare(tile int) { r.prepare(r.runners, tile) }

func (r *bidirectionalRunner[T]) Gradient(tile int, blocks []Block[T]) {
	r.blocks = r.gradient(r.runners, tile, blocks, r.blocks)
}

func (r *bidirectionalRunner[T]) Forward(p *Pass[T]) {
	tape := p.Tape
	for i, u := range r.units {
		w := &r.ways[i]
		w.pass = *p
		w.pass.Out = view(w.out, p.In.Rows, u.Out().Size(), r.Form())
		if tape != nil {
			n := p.In.Rows * u.TapeWidth()
			w.pass.Tape, tape = tape[:n], tape[n:]
		}
		r.runners[i].Forward(&w.pass)
		scatter(p.Out.Mean, w.pass.Out.Mean, r.width, i*r.width, 2*r.width)
		scatter(p.Out.Var, w.pass.Out.Var, r.width, i*r.width, 2*r.width)
	}
}

func (r *bidirectionalRunner[T]) Backward(p *Pass[T]) {
	for i, u := range r.units {
		w := &r.ways[i]
		w.pass.DOut = view(w.dout, p.DOut.Rows, u.Out().Size(), r.Form())
		gather(w.pass.DOut.Mean, p.DOut.Mean, r.width, i*r.width, 2*r.width)
		gather(w.pass.DOut.Var, p.DOut.Var, r.width, i*r.width, 2*r.width)
		w.pass.DIn = p.DIn
		if i == 1 && p.DIn.Mean != nil {
			w.pass.DIn = view(r.din, p.DOut.Rows, r.bidirectional.in.Size(), r.form)
		}
		r.runners[i].Backward(&w.pass)
	}
	if p.DIn.Mean != nil {
		d := &r.ways[1].pass.DIn
		sum(p.DIn.Mean, p.DIn.Mean, d.Mean)
		sum(p.DIn.Var, p.DIn.Var, d.Var)
	}
}

// Follow implements Sensitive.
func (u *bidirectional[T]) Follow(k int) {
	u.k = k
	for _, unit := range u.units {
		unit.(Sensitive[T]).Follow(k)
	}
}

// Sense adds what the two ways pass on to the input: what they have in common is kept.
func (r *bidirectionalRunner[T]) Sense(s *Sense[T]) {
	for i := range r.units {
		q := r.of(s, i)
		gather(q.Out, s.Out, r.width, i*r.width, 2*r.width)
		if i == 1 && s.In != nil {
			q.In = r.in[:len(s.In)]
		}
		r.runners[i].(Senser[T]).Sense(q)
	}
	if s.In != nil {
		kernel.Add(s.In, r.in[:len(s.In)])
	}
}

// of is the sense of one way.
func (r *bidirectionalRunner[T]) of(s *Sense[T], i int) *Sense[T] {
	w := &r.ways[i]
	n := len(s.Out) / 2
	w.sense = *s
	w.sense.Pass = &w.pass
	w.sense.Out = w.a[:n]
	w.sense.BOut = w.b[:n]
	return &w.sense
}

func (r *bidirectionalRunner[T]) SenseBack(s *Sense[T]) {
	for i := range r.units {
		q := &r.ways[i].sense
		q.DCov = s.DCov
		q.BIn = s.BIn
		r.runners[i].(Senser[T]).SenseBack(q)
		scatter(s.BOut, q.BOut, r.width, i*r.width, 2*r.width)
	}
}
