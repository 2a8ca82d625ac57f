package nn

import (
	"utvi/gauss"
	"utvi/internal/compute"
	"utvi/internal/compute/kernel"
)

// graphRunner owns the signals of a graph. Layers write what they give, never add: where several
// readers give a gradient to one signal, those after the first write it into room, and the
// graph adds it.
type graphRunner[T gauss.Float] struct {
	*graph[T]
	runners []Runner[T]
	passes  []Pass[T]
	values  []gauss.Batch[T] // of each flow; empty where they lie outside
	grads   []gauss.Batch[T]
	joined  []gauss.Batch[T] // what each step reads, if it is several signals
	room    gauss.Batch[T]   // for a gradient by what a step reads
	written []bool           // flows that have got a gradient in this pass

	now   []gauss.Batch[T] // values and gradients of the block at hand
	dnow  []gauss.Batch[T]
	sense *graphSense[T]

	blocks []Block[T]
}

func (g *graph[T]) NewRunner(maxRows int, train bool) Runner[T] {
	n := len(g.flows)
	r := &graphRunner[T]{graph: g, runners: make([]Runner[T], len(g.units)), passes: make([]Pass[T], len(g.units)),
		values: make([]gauss.Batch[T], n), grads: make([]gauss.Batch[T], n), joined: make([]gauss.Batch[T], len(g.units)),
		written: make([]bool, n), now: make([]gauss.Batch[T], n), dnow: make([]gauss.Batch[T], n)}
	for i, u := range g.units {
		r.runners[i] = u.NewRunner(maxRows, train)
	}
	widest := 0
	for i, from := range g.from {
		size := 0
		for _, at := range from {
			size += g.flows[at].size()
		}
		if len(from) > 1 {
			r.joined[i] = newBatch[T](maxRows, size)
		}
		widest = max(widest, size)
	}
	for at, f := range g.flows {
		if !g.whole(at) && !g.direct(at) {
			r.values[at] = newBatch[T](maxRows, f.size())
		}
		if train && !g.whole(at) {
			r.grads[at] = newBatch[T](maxRows, f.size())
		}
	}
	if train {
		r.room = newBatch[T](maxRows, widest)
	}
	if g.k > 0 {
		r.sense = g.newSense(maxRows, widest)
	}
	return r
}

func (r *graphRunner[T]) share(pool *compute.Pool) {
	for _, child := range r.runners {
		Share(child, pool)
	}
}

func (r *graphRunner[T]) Prepare(tile int) { r.prepare(r.runners, tile) }

func (r *graphRunner[T]) Gradient(tile int, blocks []Block[T]) {
	r.blocks = r.gradient(r.runners, tile, blocks, r.blocks)
}

func (r *graphRunner[T]) Forward(p *Pass[T]) {
	rows, tape := p.In.Rows, p.Tape
	for at := range r.flows {
		f := &r.flows[at]
		switch {
		case r.whole(at):
			r.now[at] = p.In
		case r.direct(at):
			r.now[at] = p.Out
		default:
			r.now[at] = view(r.values[at], rows, f.size(), f.form)
		}
		if at < r.inputs && !r.whole(at) {
			take(r.now[at], p.In, f.at)
		}
	}
	for i, u := range r.units {
		q := &r.passes[i]
		q.Seed = p.Seed
		q.Step = p.Step
		q.Row = p.Row
		if tape != nil {
			n := rows * u.TapeWidth()
			q.Tape, tape = tape[:n], tape[n:]
		}
		q.In = r.read(i, rows)
		q.Out = r.now[r.inputs+i]
		r.runners[i].Forward(q)
	}
	if !r.direct(r.ends[0]) {
		r.give(p.Out)
	}
}

// read returns what step i reads, side by side if it is several signals.
func (r *graphRunner[T]) read(i, rows int) gauss.Batch[T] {
	from := r.from[i]
	if len(from) == 1 {
		return r.now[from[0]]
	}
	in := r.inputOf(i, r.joined[i], rows)
	first := 0
	for _, at := range from {
		put(in, r.now[at], first)
		first += r.flows[at].size()
	}
	return in
}

// inputOf is the first rows of a buffer, as step i reads or gives them.
func (r *graphRunner[T]) inputOf(i int, buffer gauss.Batch[T], rows int) gauss.Batch[T] {
	size, form := 0, Fixed
	for _, at := range r.from[i] {
		size += r.flows[at].size()
		form = max(form, r.flows[at].form)
	}
	return view(buffer, rows, size, form)
}

// give writes the outputs side by side.
func (r *graphRunner[T]) give(out gauss.Batch[T]) {
	first := 0
	for _, at := range r.ends {
		put(out, r.now[at], first)
		first += r.flows[at].size()
	}
}

// Backward runs the steps in reverse.
func (r *graphRunner[T]) Backward(p *Pass[T]) {
	rows := p.DOut.Rows
	clear(r.written)
	for at := range r.flows {
		f := &r.flows[at]
		switch {
		case r.whole(at):
			r.dnow[at] = p.DIn
		case r.direct(at) && len(f.readers) == 0:
			r.dnow[at] = p.DOut
			r.written[at] = true
		case at < r.inputs && p.DIn.Mean == nil:
			r.dnow[at] = gauss.Batch[T]{}
		default:
			r.dnow[at] = view(r.grads[at], rows, f.size(), f.form)
		}
	}
	r.takeOutputs(p.DOut)
	for i := len(r.units) - 1; i >= 0; i-- {
		r.backward(i, rows)
	}
	if p.DIn.Mean == nil || r.whole(0) {
		return
	}
	for at := range r.inputs {
		put(p.DIn, r.dnow[at], r.flows[at].at)
	}
}

// takeOutputs gives the gradients by the outputs of the graph to their signals.
func (r *graphRunner[T]) takeOutputs(dout gauss.Batch[T]) {
	first := 0
	for _, at := range r.ends {
		size := r.flows[at].size()
		if !r.direct(at) || !r.written[at] {
			r.accept(at, dout, first)
		}
		first += size
	}
}

// accept adds columns of d, from first on, to the gradient of a flow, or writes them, if they are the
// first that it gets.
func (r *graphRunner[T]) accept(at int, d gauss.Batch[T], first int) {
	to := r.dnow[at]
	switch {
	case to.Mean == nil: // not wanted
	case r.written[at]:
		addColumns(to, d, first)
	default:
		take(to, d, first)
		r.written[at] = true
	}
}

// backward runs step i backward, and gives its gradients to the signals that it reads.
func (r *graphRunner[T]) backward(i, rows int) {
	q := &r.passes[i]
	q.DOut = r.dnow[r.inputs+i]
	from := r.from[i]
	if len(from) == 1 {
		at := from[0]
		if !r.written[at] || r.dnow[at].Mean == nil {
			q.DIn = r.dnow[at]
			r.runners[i].Backward(q)
			r.written[at] = true
			return
		}
	}
	q.DIn = r.inputOf(i, r.room, rows)
	r.runners[i].Backward(q)
	first := 0
	for _, at := range from {
		r.accept(at, q.DIn, first)
		first += r.flows[at].size()
	}
}

// put writes a batch to columns of dst, from first on; where it has no variances and dst has, they
// are zero.
func put[T gauss.Float](dst, src gauss.Batch[T], first int) {
	w := src.Width
	for row := range src.Rows {
		at := row*dst.Width + first
		copy(dst.Mean[at:at+w], src.Mean[row*w:])
		switch {
		case dst.Var == nil:
		case src.Var == nil:
			clear(dst.Var[at : at+w])
		default:
			copy(dst.Var[at:at+w], src.Var[row*w:])
		}
	}
}

// take is the reverse of put; variances that dst does not have are left.
func take[T gauss.Float](dst, src gauss.Batch[T], first int) {
	w := dst.Width
	for row := range dst.Rows {
		at := row*src.Width + first
		copy(dst.Mean[row*w:][:w], src.Mean[at:])
		if dst.Var != nil {
			copy(dst.Var[row*w:][:w], src.Var[at:])
		}
	}
}

// addColumns is take that adds.
func addColumns[T gauss.Float](dst, src gauss.Batch[T], first int) {
	w := dst.Width
	for row := range dst.Rows {
		at := row*src.Width + first
		kernel.Add(dst.Mean[row*w:][:w], src.Mean[at:][:w])
		if dst.Var != nil {
			kernel.Add(dst.Var[row*w:][:w], src.Var[at:][:w])
		}
	}
}
