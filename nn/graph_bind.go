package nn

import (
	"fmt"

	"utvi/gauss"
	"utvi/vi"
)

// A flow is a signal of a bound graph.
type flow struct {
	part
	readers []int // the steps that read it, in order
	out     bool  // it is an output of the graph
}

// A part is a stretch of the units of a row.
type part struct {
	shape Shape
	form  Form
	at    int // its first unit, in a row of several parts
}

func (p part) size() int { return p.shape.Size() }

// A graph is a Graph bound to its input.
type graph[T gauss.Float] struct {
	units[T]
	flows  []flow  // the inputs, then the outputs of the steps
	from   [][]int // the flows that each step reads
	ends   []int   // the flows that are its outputs
	inputs int
	in     Shape
	shape  Shape
	form   Form // of the input
	to     Form
	k      int // quantities that are followed
}

func bindGraph[T gauss.Float](l Graph, b *Binder[T]) (Unit[T], error) {
	w, err := l.wire()
	if err != nil {
		return nil, err
	}
	g := &graph[T]{in: b.In, form: b.Form, from: w.from, ends: w.outputs, inputs: w.inputs}
	if err := g.bindInputs(l, b, w); err != nil {
		return nil, err
	}
	in := b.In
	defer func() { b.In, b.Form = in, g.form }()
	for i, s := range l.Steps {
		u, err := g.bindStep(s, i, b, w)
		if err != nil {
			return nil, fmt.Errorf("step %s: %w", s.Name, err)
		}
		g.units = append(g.units, u)
		g.flows = append(g.flows, flow{part: part{shape: u.Out(), form: u.Form().apart()}})
	}
	for i, from := range g.from {
		for _, at := range from {
			f := &g.flows[at]
			if n := len(f.readers); n == 0 || f.readers[n-1] != i {
				f.readers = append(f.readers, i)
			}
		}
	}
	g.bindOutputs()
	return g, nil
}

// bindInputs cuts the row into the inputs.
func (g *graph[T]) bindInputs(l Graph, b *Binder[T], w *wiring) error {
	at := 0
	for i := range w.inputs {
		shape := b.In
		if len(l.Inputs) > 0 {
			shape = l.Inputs[i].Shape
		}
		if shape == (Shape{}) {
			switch {
			case len(b.Parts) == w.inputs:
				shape = b.Parts[i].Shape
			case w.inputs == 1:
				shape = b.In
			default:
				return fmt.Errorf("the input %q has no shape; set nn.Input.Shape", w.names[i])
			}
		}
		if shape.H < 1 || shape.W < 1 || shape.C < 1 {
			return fmt.Errorf("the input %q has the shape %d×%d×%d; height, width and channels must be at least 1", w.names[i], shape.H, shape.W, shape.C)
		}
		if shape.Size() > b.In.Size()-at {
			return fmt.Errorf("the inputs up to %q take more than the %d units of a row", w.names[i], b.In.Size())
		}
		g.flows = append(g.flows, flow{part: part{shape, b.Form.apart(), at}})
		at += shape.Size()
	}
	if at != b.In.Size() {
		return fmt.Errorf("the inputs take %d of the %d units of a row (%v); they must take all", at, b.In.Size(), b.In)
	}
	return nil
}

// bindStep binds a step to the signals that it reads, side by side.
func (g *graph[T]) bindStep(s Step, i int, b *Binder[T], w *wiring) (Unit[T], error) {
	parts := make([]Part, len(g.from[i]))
	size := 0
	b.Form = Fixed
	for k, at := range g.from[i] {
		f := g.flows[at]
		parts[k] = Part{Name: w.names[at], Shape: f.shape, Form: f.form}
		size += f.size()
		b.Form = max(b.Form, f.form)
	}
	b.In = Vec(size)
	if len(parts) == 1 {
		b.In = parts[0].Shape
	}
	if size > maxWidth {
		return nil, fmt.Errorf("it reads %d units a row; at most %d are allowed", size, maxWidth)
	}
	u, err := bindReader(s.Layer, b, s.Name, parts)
	if err != nil {
		return nil, err
	}
	return u, carries(u, b, "step")
}

// maxWidth is how wide a joined row may be: what layers ask for together is bounded by what files
// may ask for alone.
const maxWidth = 1 << 26

func (g *graph[T]) bindOutputs() {
	size := 0
	for _, at := range g.ends {
		f := &g.flows[at]
		f.out = true
		size += f.size()
		g.to = max(g.to, f.form)
	}
	g.shape = Vec(size)
	if len(g.ends) == 1 {
		g.shape = g.flows[g.ends[0]].shape
	}
}

func (g *graph[T]) Out() Shape { return g.shape }
func (g *graph[T]) Form() Form { return g.to }

// direct reports whether the output of the graph is that of one step, which writes it where the
// graph's output lies.
func (g *graph[T]) direct(at int) bool { return len(g.ends) == 1 && g.ends[0] == at && at >= g.inputs }

// whole reports whether the flow is the input of the graph as it comes.
func (g *graph[T]) whole(at int) bool { return g.inputs == 1 && at == 0 }

// Follow leaves out steps of numbers, which add nothing.
func (g *graph[T]) Follow(k int) {
	g.k = k
	for _, u := range g.units {
		if u.Form() != Fixed {
			u.(Sensitive[T]).Follow(k)
		}
	}
}

func (g *graph[T]) prepareReads(tile int) (t *vi.Tensor[T], lo, hi int) {
	i, local := g.find(tile, Unit[T].PrepareTiles)
	return PrepareReads(g.units[i], local)
}
