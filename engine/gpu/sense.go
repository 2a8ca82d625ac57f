package gpu

import (
	"utvi/internal/cuda"
	"utvi/nn"
)

// A follow is a stretch of layers that carry correlations to first order (nn.Correlated):
// their sense and, in training, its reverse.
type follow struct {
	first, last int  // layers
	input       int  // the signal that goes in
	k, room     int  // outputs; rows
	cov         bool // a layer behind needs the covariances of the outputs
	sums        cuda.Ptr
	a           map[int]cuda.Ptr // sensitivities to each signal; none if it is fixed
	seen        map[int]seen     // of convolutions
}

// follow prepares the forward operation of a layer that carries correlations. f is what
// the layers before it belong to.
func (w *weights) follow(f *follow, l *layer, i int, o *op, room int) *follow {
	if l.first {
		f = &follow{first: i, input: l.input, room: room, a: map[int]cuda.Ptr{}, seen: map[int]seen{}}
	}
	if !l.sense {
		return f
	}
	f.last = i
	f.k = l.out
	f.cov = l.cov
	switch l.kind {
	case opDense, opNoise, opDropout, opEmbed:
		o.Tape = w.floats(room * l.out)
	case opConv:
		if o.S != 0 && l.from != nn.Fixed {
			o.Tape = w.floats(room * l.out)
		}
	case opApply, opPiecewise, opPeriodic, opMaxPool:
		o.Tape, o.DM = w.floats(room*l.steps()), w.floats(room*l.steps())
	case opScale, opMultiply:
		o.DM = w.floats(room * l.out)
	}
	return f
}

// steps is the number of the random steps of a layer: of its outputs, or of all cells that
// a maximum is taken over, one after the other.
func (l *layer) steps() int {
	if l.kind == opMaxPool {
		return l.out * int(l.image.KH*l.image.KW)
	}
	return l.out
}

// sensed is how many numbers a layer keeps of each output that is followed, besides the
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

// op returns an operation of the sense of a layer.
func (f *follow) op(kind int32, in, out int) op {
	o := op{Kind: kind, In: int32(in), Out: int32(out), Targets: int32(f.k), Room: int32(f.room), NLL: f.sums}
	if f.cov {
		o.Weighted_ = 1
	}
	return o
}

// senseKinds are the operations on sensitivities of layers whose outputs have several
// inputs; their reverse follows.
var senseKinds = map[int32]int32{opAvgPool: opSenseAvg, opMaxPool: opSenseMax, opConv: opSenseConv, opLayerNorm: opSenseNorm}

// of returns the operation of a layer's sense, with what it has of the forward operation.
func (f *follow) of(l *layer, o op) op {
	x := f.op(opSenseUnits, l.in, l.steps())
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
		x.TM = o.M
		x.W = o.W
		x.ST = o.S
		x.BS = o.BS
	case opLayerNorm:
		x.TM = o.M
		x.TV = o.V
		x.Raw = o.Raw
	}
	return x
}

// sense adds the operations that carry the sensitivities back through the layers and
// write the variances of the outputs. It takes what the operations of the layers left;
// acts are all signals.
func (f *follow) sense(m *memory, b *launches, layers []layer, ops []op, acts []signal) {
	f.sums = m.alloc(f.room*f.k, 8)
	if f.cov {
		f.sums = m.alloc(f.room*f.k*f.k, 8)
	}
	start := f.op(opSenseStart, 0, 0)
	start.DM = m.floats(f.k * f.room * f.k)
	b.add(start)
	parts := map[int][]cuda.Ptr{f.last + 1: {start.DM}} // of every layer that reads a signal
	for i := f.last; i >= f.first; i-- {
		l, o := &layers[i], ops[i]
		if !l.sense {
			continue
		}
		at := f.sum(m, b, l.out, parts[i+1]...)
		f.a[i+1] = at
		if l.kind == opAdd { // both parts have the sensitivities to the sum
			for _, s := range []int{l.input, l.skip} {
				if acts[s].v != 0 {
					parts[s] = append(parts[s], at)
				}
			}
			continue
		}
		x := f.of(l, o)
		x.G, x.Tape = at, o.Tape
		if l.from != nn.Fixed {
			x.DM = m.floats(f.k * f.room * l.in)
			parts[l.input] = append(parts[l.input], x.DM)
		}
		switch l.kind {
		case opDense:
			x.Kind, x.WT = opSenseDense, o.WT
		case opMaxPool:
			x.TV = at
			x.OV = m.floats(f.k * f.room * l.steps())
			x.G, f.a[i+1] = x.OV, x.OV
		case opConv:
			f.seen[i] = f.see(m, l, o)
			x.OV, x.DV = f.seen[i].weights, f.seen[i].biases
		}
		b.add(x)
	}
	if acts[f.input].v != 0 { // the inputs add their own variances
		x := f.op(opSenseUnits, 0, layers[f.first].in)
		x.G, x.Tape = f.sum(m, b, layers[f.first].in, parts[f.input]...), acts[f.input].v
		f.a[f.input] = x.G
		b.add(x)
	}
	end := f.op(opSenseEnd, 0, 0)
	end.OV, end.OM = acts[f.last+1].v, acts[f.last+1].c
	b.add(end)
}

// sum adds up sensitivities, or gradients by them.
func (f *follow) sum(m *memory, b *launches, width int, parts ...cuda.Ptr) cuda.Ptr {
	var sum cuda.Ptr
	for _, p := range parts {
		switch {
		case sum == 0:
			sum = p
		case p != 0:
			x := f.op(opSenseSum, width, width)
			x.G = sum
			x.M = p
			x.DM = m.floats(f.k * f.room * width)
			b.add(x)
			sum = x.DM
		}
	}
	return sum
}

// A backSense is what the reverse of the sense leaves for the reverse of a layer.
type backSense struct {
	slope, adds cuda.Ptr // gradients by its slopes and by what it adds; of a LayerNorm by its inputs' moments
	gain        cuda.Ptr // of a LayerNorm, rows of gradients by its gain
	a, b        cuda.Ptr // of a dense layer or a convolution: sensitivities to its outputs, gradients by those to its inputs; b is 0 if they are fixed
	seen        seen     // of a convolution
	h, c        cuda.Ptr // gradients by the variances and covariances of the outputs of all
}

// back adds the reverse of sense: h are the gradients by the variances of the outputs, c
// those by their covariances, or 0. It returns what each layer gets, and the gradients by
// the variances of the inputs, 0 if they are fixed.
func (f *follow) back(m *memory, b *launches, layers []layer, ops []op, acts []signal, h, c cuda.Ptr) (each []backSense, inputs cuda.Ptr) {
	by := map[int]cuda.Ptr{} // gradients by the sensitivities to each signal
	if a := f.a[f.input]; a != 0 {
		width := layers[f.first].in
		inputs = m.floats(f.room * width)
		x := f.op(opSenseBack, 0, width)
		x.G = a
		x.V = acts[f.input].v
		x.H = h
		x.S = c
		x.DM = m.floats(f.k * f.room * width)
		x.DV = inputs
		by[f.input] = x.DM
		b.add(x)
	}
	for i := f.first; i <= f.last; i++ {
		l, o := &layers[i], ops[i]
		if !l.sense {
			each = append(each, backSense{})
			continue
		}
		if l.kind == opAdd {
			by[i+1] = f.sum(m, b, l.out, by[l.input], by[l.skip])
			each = append(each, backSense{})
			continue
		}
		e := backSense{a: f.a[i+1], b: by[l.input], seen: f.seen[i], h: h, c: c}
		x := f.of(l, o)
		x.G = e.a
		x.V = o.Tape
		x.H = h
		x.S = c
		x.OM = e.b
		switch {
		case x.Kind != opSenseUnits:
			x.Kind++
		case l.kind == opDense && e.b != 0:
			x.Kind, x.W = opSenseDenseBack, o.W
		default:
			x.Kind = opSenseBack
		}
		if o.Tape != 0 {
			e.adds = m.floats(f.room * l.steps())
		}
		if o.DM != 0 {
			e.slope = m.floats(f.room * l.steps())
		}
		switch l.kind {
		case opLayerNorm:
			e.slope = m.floats(f.room * l.in)
			e.adds = m.floats(f.room * l.in)
			e.gain = m.floats(f.room * l.in)
			x.Tape, x.Scratch = e.gain, m.alloc(f.room*l.in, 8)
		case opConv:
			x.TY, x.TV = e.seen.weights, e.seen.biases
			x.Tape = m.floats(f.room * l.weights())
			if x.TY != 0 && l.input > 0 {
				e.slope = m.floats(f.room * l.in)
				x.YO = e.slope
			}
		}
		x.DV = e.adds
		if l.kind != opConv {
			x.OV = e.slope
		}
		if i < f.last {
			x.DM = m.floats(f.k * f.room * l.out)
			by[i+1] = x.DM
		}
		b.add(x)
		each = append(each, e)
	}
	return each, inputs
}
