package gpu

import "utvi/internal/cuda"

// senseGradients are what the reverse of the sensitivities leaves for the reverse of a layer.
type senseGradients struct {
	slope, adds cuda.Ptr // gradients by its slopes and by what it adds; of a LayerNorm by its inputs' moments
	gain        cuda.Ptr // of a LayerNorm, rows of gradients by its gain
	a, b        cuda.Ptr // of a dense layer or a convolution: sensitivities to its outputs, gradients by those to its inputs; b is 0 if they are fixed
	seen        seen     // of a convolution
	h, c        cuda.Ptr // gradients by the variances and covariances of the outputs of all
}

// back adds the reverse of sense: h are the gradients by the variances of the outputs, by those
// by their covariances, or 0. It returns what each layer gets, and the gradients by the variances
// of the inputs, 0 if they are fixed.
func (c *correlated) back(f *forwardList, h, by cuda.Ptr) (each []senseGradients, inputs cuda.Ptr) {
	m := f.w.memory
	layers := f.w.plan.layers
	reached := map[int]cuda.Ptr{} // gradients by the sensitivities to each signal
	if a := c.sensitivities[c.input]; a != 0 {
		width := layers[c.first].in
		inputs = m.floats(c.rows * width)
		x := c.op(opSenseBack, 0, width)
		x.G = a
		x.V = f.signals[c.input].v
		x.H = h
		x.S = by
		x.DM = c.signal(m, width)
		x.DV = inputs
		reached[c.input] = x.DM
		f.pass.add(x)
	}
	for i := c.first; i <= c.last; i++ {
		var e senseGradients
		switch l := &layers[i]; {
		case !l.sense:
		case l.kind == opAdd:
			reached[i+1] = c.sum(f, l.out, reached[l.input], reached[l.skip])
		default:
			e = senseGradients{a: c.sensitivities[i+1], b: reached[l.input], seen: c.seen[i], h: h, c: by}
			reached[i+1] = c.backLayer(f, i, &e)
		}
		each = append(each, e)
	}
	return each, inputs
}

// backLayer adds the reverse of senseLayer, and completes what the reverse of layer number i
// gets. It returns the gradients by the sensitivities to its outputs; 0 for the last layer, whose
// are constant.
func (c *correlated) backLayer(f *forwardList, i int, e *senseGradients) cuda.Ptr {
	m := f.w.memory
	l := &f.w.plan.layers[i]
	o := f.ops[i]
	x := c.of(l, o)
	x.G = e.a
	x.V = o.Tape
	x.H = e.h
	x.S = e.c
	x.OM = e.b
	switch {
	case x.Kind != opSenseUnits:
		x.Kind++
	case l.kind == opDense && e.b != 0:
		x.Kind = opSenseDenseBack
		x.W = o.W
	default:
		x.Kind = opSenseBack
	}
	if o.Tape != 0 {
		e.adds = m.floats(c.rows * l.steps())
	}
	if o.DM != 0 {
		e.slope = m.floats(c.rows * l.steps())
	}
	switch l.kind {
	case opLayerNorm:
		e.slope = m.floats(c.rows * l.in)
		e.adds = m.floats(c.rows * l.in)
		e.gain = m.floats(c.rows * l.in)
		x.Tape = e.gain
		x.Scratch = m.alloc(c.rows*l.in, 8)
	case opConv:
		x.setExtra(o.M, e.seen.biases, e.seen.weights)
		x.Tape = m.floats(c.rows * l.weights())
		if e.seen.weights != 0 && l.input > 0 {
			e.slope = m.floats(c.rows * l.in)
			x.YO = e.slope
		}
	}
	x.DV = e.adds
	if l.kind != opConv {
		x.OV = e.slope
	}
	if i < c.last {
		x.DM = c.signal(m, l.out)
	}
	f.pass.add(x)
	return x.DM
}
