package nn

import (
	"utvi/gauss"
	"utvi/internal/compute/kernel"
)

// graphSense is what a runner of a graph needs to carry correlations. Sensitivities of all readers
// of a signal add up: that keeps the covariance of signals that part and meet.
type graphSense[T gauss.Float] struct {
	senses []Sense[T]
	a, b   [][]T // sensitivities to each flow, and the gradients by them; empty for fixed ones
	bin    [][]T // gradients by the sensitivities to what each step reads, if it is several signals
	room   []T
	now    [][]T // those of the block at hand
	bnow   [][]T
}

func (g *graph[T]) newSense(maxRows, widest int) *graphSense[T] {
	n, steps := len(g.flows), len(g.units)
	s := &graphSense[T]{senses: make([]Sense[T], steps), a: make([][]T, n), b: make([][]T, n), bin: make([][]T, steps),
		now: make([][]T, n), bnow: make([][]T, n), room: make([]T, maxRows*g.k*widest)}
	for at, f := range g.flows {
		if f.form != Fixed {
			s.a[at] = make([]T, maxRows*g.k*f.size())
			s.b[at] = make([]T, maxRows*g.k*f.size())
		}
	}
	for i, from := range g.from {
		if len(from) > 1 {
			s.bin[i] = make([]T, maxRows*g.k*g.readSize(i))
		}
	}
	return s
}

// readSize is how many units step i reads.
func (g *graph[T]) readSize(i int) int {
	size := 0
	for _, at := range g.from[i] {
		size += g.flows[at].size()
	}
	return size
}

// random reports whether step i reads a signal that is not fixed.
func (g *graph[T]) random(i int) bool {
	for _, at := range g.from[i] {
		if g.flows[at].form != Fixed {
			return true
		}
	}
	return false
}

func (r *graphRunner[T]) Sense(s *Sense[T]) {
	n := s.Rows * s.K
	clear(r.written)
	for at, f := range r.flows {
		r.sense.now[at] = nil
		switch {
		case f.form == Fixed:
		case r.whole(at):
			r.sense.now[at] = s.In
		case r.direct(at) && len(f.readers) == 0:
			r.sense.now[at] = s.Out
			r.written[at] = true
		default:
			r.sense.now[at] = r.sense.a[at][:n*f.size()]
		}
	}
	first := 0
	for _, at := range r.ends {
		if !r.written[at] || !r.direct(at) {
			r.acceptSense(at, s.Out, n, r.shape.Size(), first)
		}
		first += r.flows[at].size()
	}
	for i := len(r.units) - 1; i >= 0; i-- {
		if r.flows[r.inputs+i].form != Fixed {
			r.senseStep(i, s)
		}
	}
	for at := range r.inputs {
		if s.In != nil && !r.whole(at) {
			putColumns(s.In, r.sense.now[at], n, r.in.Size(), r.flows[at].at, r.flows[at].size())
		}
	}
}

// senseStep takes the sensitivities back through step i, to the signals that it reads.
func (r *graphRunner[T]) senseStep(i int, s *Sense[T]) {
	n, from := s.Rows*s.K, r.from[i]
	q := &r.sense.senses[i]
	*q = *s
	q.Pass = &r.passes[i]
	q.Out = r.sense.now[r.inputs+i]
	q.In = nil
	if !r.random(i) {
		r.runners[i].(Senser[T]).Sense(q)
		return
	}
	if at := from[0]; len(from) == 1 && !r.written[at] {
		q.In = r.sense.now[at]
		r.runners[i].(Senser[T]).Sense(q)
		r.written[at] = true
		return
	}
	width := r.readSize(i)
	q.In = r.sense.room[:n*width]
	r.runners[i].(Senser[T]).Sense(q)
	first := 0
	for _, at := range from {
		r.acceptSense(at, q.In, n, width, first)
		first += r.flows[at].size()
	}
}

// acceptSense adds columns of rows of sensitivities to those of a flow, or writes them, if they
// are the first that it gets.
func (r *graphRunner[T]) acceptSense(at int, src []T, rows, width, first int) {
	to := r.sense.now[at]
	if to == nil {
		return
	}
	w := r.flows[at].size()
	for row := range rows {
		x, y := to[row*w:][:w], src[row*width+first:][:w]
		if r.written[at] {
			kernel.Add(x, y)
		} else {
			copy(x, y)
		}
	}
	r.written[at] = true
}

// putColumns writes rows of w numbers to columns of dst, from first on; nil is zero.
func putColumns[T gauss.Float](dst, src []T, rows, width, first, w int) {
	for row := range rows {
		to := dst[row*width+first:][:w]
		if src == nil {
			clear(to)
		} else {
			copy(to, src[row*w:])
		}
	}
}

// SenseBack runs the steps forward: a gradient by the sensitivities to a signal goes to each of
// its readers.
func (r *graphRunner[T]) SenseBack(s *Sense[T]) {
	n := s.Rows * s.K
	for at, f := range r.flows {
		r.sense.bnow[at] = nil
		switch {
		case f.form == Fixed:
		case r.whole(at):
			r.sense.bnow[at] = s.BIn
		case r.direct(at):
			r.sense.bnow[at] = s.BOut
		default:
			r.sense.bnow[at] = r.sense.b[at][:n*f.size()]
		}
		if at < r.inputs && s.BIn != nil && !r.whole(at) {
			takeColumns(r.sense.bnow[at], s.BIn, n, r.in.Size(), f.at, f.size())
		}
	}
	for i := range r.units {
		if r.flows[r.inputs+i].form != Fixed {
			r.senseBackStep(i, s)
		}
	}
	if r.direct(r.ends[0]) {
		return
	}
	first := 0
	for _, at := range r.ends {
		size := r.flows[at].size()
		putColumns(s.BOut, r.sense.bnow[at], n, r.shape.Size(), first, size)
		first += size
	}
}

// takeColumns is the reverse of putColumns.
func takeColumns[T gauss.Float](dst, src []T, rows, width, first, w int) {
	for row := range rows {
		copy(dst[row*w:][:w], src[row*width+first:])
	}
}

func (r *graphRunner[T]) senseBackStep(i int, s *Sense[T]) {
	q := &r.sense.senses[i]
	q.DCov = s.DCov
	q.BOut = r.sense.bnow[r.inputs+i]
	q.BIn = nil
	from := r.from[i]
	switch {
	case !r.random(i):
	case len(from) == 1:
		q.BIn = r.sense.bnow[from[0]]
	default:
		n, width := s.Rows*s.K, r.readSize(i)
		q.BIn = r.sense.bin[i][:n*width]
		first := 0
		for _, at := range from {
			size := r.flows[at].size()
			putColumns(q.BIn, r.sense.bnow[at], n, width, first, size)
			first += size
		}
	}
	r.runners[i].(Senser[T]).SenseBack(q)
}
