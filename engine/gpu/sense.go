package gpu

import (
	"utvi/internal/cuda"
	"utvi/nn"
)

// A follow is a stretch of layers that carry correlations to first order (nn.Correlated):
// their sense and, in training, its reverse.
type follow struct {
	first, last int  // layers
	k, room     int  // outputs; rows
	cov         bool // a layer behind needs the covariances of the outputs
	sums        cuda.Ptr
	// a holds the sensitivities to the inputs of each layer, 0 if they are fixed, and
	// behind them those to the outputs of the last one.
	a []cuda.Ptr
}

// follow prepares the forward operation of a layer that carries correlations. f is what
// the layers before it belong to.
func (w *weights) follow(f *follow, l *layer, i int, o *op, room int) *follow {
	if l.first {
		f = &follow{first: i, room: room}
	}
	if !l.sense {
		return f
	}
	f.last, f.k, f.cov = i, l.out, l.cov
	switch l.kind {
	case opDense, opNoise, opDropout, opEmbed:
		o.Tape = w.floats(room * l.out)
	case opApply, opPiecewise, opPeriodic:
		o.Tape, o.DM = w.floats(room*l.out), w.floats(room*l.out)
	default:
		o.DM = w.floats(room * l.out)
	}
	return f
}

// op returns an operation of the sense of a layer.
func (f *follow) op(kind int32, in, out int) op {
	o := op{Kind: kind, In: int32(in), Out: int32(out), Targets: int32(f.k), Room: int32(f.room), NLL: f.sums}
	if f.cov {
		o.Weighted_ = 1
	}
	return o
}

// sense adds the operations that carry the sensitivities back through the layers and
// write the variances of the outputs. It takes what the operations of the layers left;
// acts are the inputs of each layer.
func (f *follow) sense(m *memory, b *launches, layers []layer, ops []op, acts []signal) {
	if f.sums = m.alloc(f.room*f.k, 8); f.cov {
		f.sums = m.alloc(f.room*f.k*f.k, 8)
	}
	f.a = make([]cuda.Ptr, f.last-f.first+2)
	at := m.floats(f.k * f.room * f.k)
	f.a[len(f.a)-1] = at
	start := f.op(opSenseStart, 0, 0)
	start.DM = at
	b.add(start)
	for i := f.last; i >= f.first; i-- {
		l, o := &layers[i], ops[i]
		x := f.op(opSenseUnits, l.in, l.out)
		x.G, x.Tape, x.M = at, o.Tape, o.DM
		x.Table = o.Table
		if l.kind == opEmbed {
			x.Nodes = o.Nodes
		}
		if l.kind == opDense {
			x.Kind, x.WT = opSenseDense, o.WT
		}
		at = 0
		if l.from != nn.Fixed {
			at = m.floats(f.k * f.room * l.in)
		}
		x.DM, f.a[i-f.first] = at, at
		b.add(x)
	}
	if at != 0 { // the inputs add their own variances
		x := f.op(opSenseUnits, 0, layers[f.first].in)
		x.G, x.Tape = at, acts[f.first].v
		b.add(x)
	}
	end := f.op(opSenseEnd, 0, 0)
	end.OV, end.OM = acts[f.last+1].v, acts[f.last+1].c
	b.add(end)
}

// A backSense is what the reverse of the sense leaves for the reverse of a layer.
type backSense struct {
	slope, adds cuda.Ptr // gradients by its slopes and by what it adds
	a, b        cuda.Ptr // of a dense layer: sensitivities to its outputs, gradients by those to its inputs; b is 0 if they are fixed
}

// back adds the reverse of sense: h are the gradients by the variances of the outputs, c
// those by their covariances, or 0. It returns what each layer gets, and the gradients by the variances of the inputs, 0 if
// they are fixed.
func (f *follow) back(m *memory, b *launches, layers []layer, ops []op, acts []signal, h, c cuda.Ptr) (each []backSense, inputs cuda.Ptr) {
	var by cuda.Ptr // gradients by the sensitivities in front of the layer
	if a := f.a[0]; a != 0 {
		width := layers[f.first].in
		by, inputs = m.floats(f.k*f.room*width), m.floats(f.room*width)
		x := f.op(opSenseBack, 0, width)
		x.G, x.V, x.H, x.S, x.DM, x.DV = a, acts[f.first].v, h, c, by, inputs
		b.add(x)
	}
	for i := f.first; i <= f.last; i++ {
		l, o := &layers[i], ops[i]
		e := backSense{a: f.a[i-f.first+1], b: by}
		x := f.op(opSenseBack, l.in, l.out)
		x.G, x.V, x.H, x.S, x.M, x.OM, x.W = e.a, o.Tape, h, c, o.DM, by, o.W
		x.Table = o.Table
		if l.kind == opEmbed {
			x.Nodes = o.Nodes
		}
		if l.kind == opDense && by != 0 {
			x.Kind = opSenseDenseBack
		}
		if o.Tape != 0 {
			e.adds = m.floats(f.room * l.out)
			x.DV = e.adds
		}
		if o.DM != 0 {
			e.slope = m.floats(f.room * l.out)
			x.OV = e.slope
		}
		by = 0
		if i < f.last {
			by = m.floats(f.k * f.room * l.out)
			x.DM = by
		}
		b.add(x)
		each = append(each, e)
	}
	return each, inputs
}
