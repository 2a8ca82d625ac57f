package export

import (
	"slices"

	"utvi/nn"
)

// graph writes the steps of a graph in their order, each with the signals that it reads.
// Sensitivities go back through the steps in reverse: those of all readers of a signal add up.
func (w *writer) graph(n *node, l nn.Graph, in signal, out *signal) (back, error) {
	flows := w.inputs(l, in)
	inputs := len(flows)
	from, ends := wired(l, inputs)
	backs := make([]back, len(l.Steps))
	for i := range l.Steps {
		next, b, err := w.layer(n.Children[i], reading(flows, from[i]))
		if err != nil {
			return nil, err
		}
		flows = append(flows, next)
		backs[i] = b
	}
	w.Scope(w.prefix + n.Name)
	end := w.whole(reading(flows, ends))
	out.mean = end.mean
	out.variance = end.variance
	if !w.sense || out.form == nn.Fixed {
		return nil, nil
	}
	return func(s *sensed, a value) value {
		senses := make([][]value, len(flows))
		w.partBack(senses, flows, ends, a)
		for i := len(backs) - 1; i >= 0; i-- {
			if got := senses[inputs+i]; len(got) > 0 && backs[i] != nil {
				w.partBack(senses, flows, from[i], backs[i](s, w.total(got)))
			}
		}
		return w.inputBack(senses[:inputs], flows[:inputs], in, a)
	}, nil
}

// wired returns the signals that each step reads and those that are outputs, by number: the inputs,
// then the steps.
func wired(l nn.Graph, inputs int) (from [][]int, ends []int) {
	number := map[string]int{"in": 0}
	for i, in := range l.Inputs {
		number[in.Name] = i
	}
	all := func(names []string) (at []int) {
		for _, name := range names {
			at = append(at, number[name])
		}
		return at
	}
	for i, s := range l.Steps {
		reads := all(s.From)
		if len(reads) == 0 {
			reads = []int{max(0, inputs+i-1)}
		}
		from = append(from, reads)
		number[s.Name] = inputs + i
	}
	ends = all(l.Outputs)
	if len(ends) == 0 {
		ends = []int{inputs + len(l.Steps) - 1}
	}
	return from, ends
}

// attention writes the graph that an attention is.
func (w *writer) attention(n *node, l nn.MultiHeadAttention, in signal, out *signal) (back, error) {
	shapes := []nn.Shape{in.shape}
	if in.parts != nil {
		shapes = nil
		for _, p := range in.parts {
			shapes = append(shapes, p.shape)
		}
	}
	g, err := l.Expand(shapes...)
	if err != nil {
		return nil, err
	}
	return w.graph(n, g, in, out)
}

// readsParts reports whether a layer takes the signals that a step reads apart.
func readsParts(l nn.Layer) bool {
	switch l.(type) {
	case nn.Chain, nn.Residual, nn.Graph, nn.MultiHeadAttention, nn.Sum, nn.Product, nn.MatMul, nn.Concat:
		return true
	}
	return false
}

// inputs are the signals of the graph's input.
func (w *writer) inputs(l nn.Graph, in signal) []signal {
	switch {
	case len(l.Inputs) < 2:
		return []signal{w.whole(in)}
	case len(in.parts) == len(l.Inputs):
		return slices.Clone(in.parts)
	}
	all := w.whole(in)
	m, v := w.rows(all.mean, in.shape), ""
	if in.form != nn.Fixed {
		v = w.rows(all.variance, in.shape)
	}
	var flows []signal
	at := 0
	for _, i := range l.Inputs {
		f := signal{shape: i.Shape, form: in.form}
		to := at + i.Shape.Size()
		f.mean = w.natural(w.slice(m, 1, at, to, 1), i.Shape)
		if v != "" {
			f.variance = w.natural(w.slice(v, 1, at, to, 1), i.Shape)
		}
		flows = append(flows, f)
		at = to
	}
	return flows
}

// reading is what a step reads: a signal, or several side by side.
func reading(flows []signal, from []int) signal {
	if len(from) == 1 {
		s := flows[from[0]]
		s.parts = nil
		s.cov = nil
		return s
	}
	all := signal{form: nn.Fixed}
	size := 0
	for _, at := range from {
		f := flows[at]
		all.parts = append(all.parts, f)
		all.form = max(all.form, f.form)
		size += f.shape.Size()
	}
	all.shape = nn.Vec(size)
	return all
}

// whole is a signal whose parts are side by side in one row.
func (w *writer) whole(s signal) signal {
	if s.parts == nil {
		return s
	}
	var means, variances []value
	for _, p := range s.parts {
		means = append(means, w.rows(p.mean, p.shape))
		if s.form != nn.Fixed {
			variances = append(variances, w.rows(w.varianceOf(p), p.shape))
		}
	}
	s.mean = w.concat(1, means...)
	if s.form != nn.Fixed {
		s.variance = w.concat(1, variances...)
	}
	s.parts = nil
	return s
}

// partBack gives each of some signals its stretch of the sensitivities to all of them.
func (w *writer) partBack(senses [][]value, flows []signal, from []int, a value) {
	if a == "" {
		return
	}
	at := 0
	for _, k := range from {
		f := flows[k]
		to := at + f.shape.Size()
		if f.form != nn.Fixed {
			own := a
			if len(from) > 1 {
				own = w.slice(a, 2, at, to, 1)
			}
			senses[k] = append(senses[k], own)
		}
		at = to
	}
}

// inputBack are the sensitivities to the input of a graph, whose parts lie side by side; a has as
// many rows and quantities.
func (w *writer) inputBack(senses [][]value, flows []signal, in signal, a value) value {
	if in.form == nn.Fixed {
		return ""
	}
	var all []value
	for i, got := range senses {
		if len(got) == 0 { // a number, beside inputs that are none
			shape := w.likeRows(a, flows[i].shape.Size())
			got = []value{w.unary("ConstantOfShape", shape)}
		}
		all = append(all, w.total(got))
	}
	return w.concat(2, all...)
}
