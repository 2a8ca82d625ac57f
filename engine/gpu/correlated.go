package gpu

import (
	"utvi/internal/cuda"
	"utvi/nn"
)

// A correlated is a stretch of layers that carry correlations to first order (nn.Correlated):
// the sensitivities of its outputs to every signal in it and, in training, their reverse.
type correlated struct {
	first, last   int // layers
	input         int // the signal that goes in
	outputs       int // of the last layer
	rows          int
	covariances   bool // a layer behind needs the covariances of the outputs
	sums          cuda.Ptr
	sensitivities map[int]cuda.Ptr // to each signal; none if it is fixed
	seen          map[int]seen     // of convolutions
}

// carry prepares the forward operation of a layer that carries correlations. c is the stretch
// that the layers before it belong to.
func (w *weights) carry(c *correlated, l *layer, i int, o *op, rows int) *correlated {
	if l.first {
		c = &correlated{first: i, input: l.input, rows: rows, sensitivities: map[int]cuda.Ptr{}, seen: map[int]seen{}}
	}
	if !l.sense {
		return c
	}
	c.last = i
	c.outputs = l.out
	c.covariances = l.cov
	switch l.kind {
	case opDense, opNoise, opDropout, opEmbed:
		o.Tape = w.floats(rows * l.out)
	case opConv:
		if o.S != 0 && l.from != nn.Fixed {
			o.Tape = w.floats(rows * l.out)
		}
	case opApply, opPiecewise, opPeriodic, opMaxPool:
		o.Tape = w.floats(rows * l.steps())
		o.DM = w.floats(rows * l.steps())
	case opScale, opMultiply:
		o.DM = w.floats(rows * l.out)
	}
	return c
}

// steps is the number of the random steps of a layer: of its outputs, or of all cells that
// a maximum is taken over, one after the other.
func (l *layer) steps() int {
	if l.kind == opMaxPool {
		return l.out * int(l.image.KH*l.image.KW)
	}
	return l.out
}

// sensed is how many numbers a layer keeps of each output that is carried, besides the
// sensitivities to its inputs.
func (l *layer) sensed() int {
	switch l.kind {
	case opMaxPool:
		return l.steps()
	case opConv:
		return l.weights() + l.features()
	}
	return 0
}

// op returns an operation on sensitivities.
func (c *correlated) op(kind int32, in, out int) op {
	o := op{Kind: kind, In: int32(in), Out: int32(out), Count: int32(c.outputs), Room: int32(c.rows), NLL: c.sums}
	if c.covariances {
		o.Flag = 1
	}
	return o
}

// signal allocates the sensitivities of the outputs to a signal of so many units.
func (c *correlated) signal(m *memory, width int) cuda.Ptr {
	return m.floats(c.outputs * c.rows * width)
}

// senseKinds are the operations on sensitivities of layers whose outputs have several
// inputs; their reverse follows.
var senseKinds = map[int32]int32{opAvgPool: opSenseAvg, opMaxPool: opSenseMax, opConv: opSenseConv, opLayerNorm: opSenseNorm}

// of returns the operation on the sensitivities of a layer, with what it has of the forward
// operation.
func (c *correlated) of(l *layer, o op) op {
	x := c.op(opSenseUnits, l.in, l.steps())
	x.M = o.DM
	x.Table = o.Table
	x.Image = l.image
	x.P = l.p
	x.Q = l.q
	if kind, ok := senseKinds[l.kind]; ok {
		x.Kind = kind
	}
	switch l.kind {
	case opEmbed:
		x.Nodes = o.Nodes
	case opConv:
		x.setExtra(o.M, 0, 0)
		x.W = o.W
		x.ST = o.S
		x.BS = o.BS
	case opLayerNorm:
		x.setExtra(o.M, o.V, 0)
		x.Raw = o.Raw
	}
	return x
}

// sense adds the operations that carry the sensitivities back through the layers and
// write the variances of the outputs. It takes what the operations of the layers left.
func (c *correlated) sense(f *forwardList) {
	m := f.w.memory
	layers := f.w.plan.layers
	c.sums = m.alloc(c.rows*c.outputs, 8)
	if c.covariances {
		c.sums = m.alloc(c.rows*c.outputs*c.outputs, 8)
	}
	start := c.op(opSenseStart, 0, 0)
	start.DM = c.signal(m, c.outputs)
	f.pass.add(start)
	parts := map[int][]cuda.Ptr{c.last + 1: {start.DM}} // of every layer that reads a signal
	for i := c.last; i >= c.first; i-- {
		if layers[i].sense {
			c.senseLayer(f, i, parts)
		}
	}
	if v := f.signals[c.input].v; v != 0 { // the inputs add their own variances
		width := layers[c.first].in
		x := c.op(opSenseUnits, 0, width)
		x.G = c.sum(f, width, parts[c.input]...)
		x.Tape = v
		c.sensitivities[c.input] = x.G
		f.pass.add(x)
	}
	end := c.op(opSenseEnd, 0, 0)
	end.OV = f.signals[c.last+1].v
	end.OM = f.signals[c.last+1].c
	f.pass.add(end)
}

// senseLayer carries the sensitivities back through layer number i. parts are those to each
// signal, of every layer that reads it.
func (c *correlated) senseLayer(f *forwardList, i int, parts map[int][]cuda.Ptr) {
	m := f.w.memory
	l := &f.w.plan.layers[i]
	o := f.ops[i]
	at := c.sum(f, l.out, parts[i+1]...)
	c.sensitivities[i+1] = at
	if l.kind == opAdd { // both parts have the sensitivities to the sum
		for _, s := range []int{l.input, l.skip} {
			if f.signals[s].v != 0 {
				parts[s] = append(parts[s], at)
			}
		}
		return
	}
	x := c.of(l, o)
	x.G = at
	x.Tape = o.Tape
	if l.from != nn.Fixed {
		x.DM = c.signal(m, l.in)
		parts[l.input] = append(parts[l.input], x.DM)
	}
	switch l.kind {
	case opDense:
		x.Kind = opSenseDense
		x.WT = o.WT
	case opMaxPool:
		x.setExtra(0, at, 0)
		x.OV = c.signal(m, l.steps())
		x.G = x.OV
		c.sensitivities[i+1] = x.OV
	case opConv:
		c.seen[i] = c.see(m, l, o)
		x.OV = c.seen[i].weights
		x.DV = c.seen[i].biases
	}
	f.pass.add(x)
}

// sum adds up sensitivities, or gradients by them.
func (c *correlated) sum(f *forwardList, width int, parts ...cuda.Ptr) cuda.Ptr {
	var sum cuda.Ptr
	for _, p := range parts {
		switch {
		case sum == 0:
			sum = p
		case p != 0:
			x := c.op(opSenseSum, width, width)
			x.G = sum
			x.M = p
			x.DM = c.signal(f.w.memory, width)
			f.pass.add(x)
			sum = x.DM
		}
	}
	return sum
}
