package gpu

import (
	"utvi/internal/cuda"
	"utvi/nn"
)

// A forwardList lists the forward operations of a network, from its input to its outputs.
type forwardList struct {
	w       *weights
	rows    int
	pass    launches
	signals []signal            // the input, then the output of each layer
	ops     []op                // the forward operation of each layer
	carried map[int]*correlated // stretches of layers that carry correlations, by their last layers
	under   *correlated         // the stretch under way
}

// list adds all layers. The outputs go to end; where its means are 0, it allocates them.
func (f *forwardList) list(end signal) {
	f.carried = map[int]*correlated{}
	layers := f.w.plan.layers
	for i := range layers {
		out := end
		if i < len(layers)-1 || end.m == 0 {
			out = f.w.signal(f.rows, layers[i].out, layers[i].to != nn.Fixed)
		}
		f.layer(i, out)
	}
}

// layer adds layer number i, which writes out.
func (f *forwardList) layer(i int, out signal) {
	w := f.w
	l := &w.plan.layers[i]
	o := w.operation(l, f.signals, out)
	w.scratch(l, &o, f.rows)
	f.under = w.carry(f.under, l, i, &o, f.rows)
	slopes := w.covariance(l, &o, &out, f.rows)
	f.pass.forward(w, l, o, f.rows)
	if !l.sense {
		f.pass.scaleCovariance(l, f.signals[l.input], out, slopes)
	}
	f.signals = append(f.signals, out)
	f.ops = append(f.ops, o)
	if l.last {
		f.under.sense(f)
		f.carried[i] = f.under
	}
}

// A stepList lists the operations of a step of training: forward, score and backward. It
// notes what the gradients of the parameters need.
type stepList struct {
	forwardList
	grads  gradients
	convs  convGradients
	levels []levelGradient // of tables of categories
	tapes  []tape
	back   [][]signal // gradients by each signal, of every layer that reads it

	// Of the layers that carry correlations, on the way back.
	senses []senseGradients
	inputs cuda.Ptr // gradients by the variances of their inputs
}

// newStepList lists the operations of a step of a training whose batch is placed.
func newStepList(t *trainer, score op) *stepList {
	s := &stepList{forwardList: forwardList{w: t.weights, rows: t.Batch, signals: []signal{t.batch.in}}}
	s.pass.results = t.results
	s.pass.add(t.batch.gather)
	s.list(signal{})
	last := len(s.ops)
	out := s.signals[last]
	d := t.signal(s.rows, t.plan.layers[last-1].out, out.v != 0)
	t.nll = t.alloc(s.rows, 8)
	t.floored = t.alloc(s.rows, 4)
	score.In = int32(t.plan.layers[last-1].out)
	score.Count = int32(t.Data.Targets())
	score.M = out.m
	score.V = out.v
	score.DM = d.m
	score.DV = d.v
	score.Y = t.batch.y
	score.NLL = t.nll
	score.Floored = t.floored
	score.Nodes = t.countScale()
	s.pass.add(score)
	s.back = make([][]signal, last+1)
	s.back[last] = []signal{d}
	for i := last - 1; i >= 0; i-- {
		s.reverse(i)
	}
	return s
}

// reverse adds the reverse of layer number i.
func (s *stepList) reverse(i int) {
	l := &s.w.plan.layers[i]
	o := s.ops[i]
	in := s.signals[l.input]
	d := s.join(s.back[i+1], l.out, s.signals[i+1])
	if l.last {
		s.under = s.carried[i]
		s.senses, s.inputs = s.under.back(&s.forwardList, d.v, d.c)
		d.v = s.w.zeros(s.rows * l.out) // the variances that the layers gave their outputs are not used
	}
	if l.kind == opAdd {
		s.reverseSum(l, d)
		return
	}
	o.G = d.m
	o.H = d.v
	by := s.covarianceBack(l, &o, in, d)
	s.learn(l, i, &o)
	own := s.tapesOf(l, &o)
	s.tapes = append(s.tapes, own...)
	inner := l.input > 0 // else nobody wants the gradient by its input
	if !inner && len(own) == 0 {
		return
	}
	if l.kind == opMaxPool {
		o.Tape = s.w.floats(s.rows * l.out * int(2*l.image.KH*l.image.KW))
	}
	if inner {
		d = s.w.signal(s.rows, l.in, in.v != 0)
		d.c = by
		o.DM = d.m
		o.DV = d.v
		s.back[l.input] = append(s.back[l.input], d)
	}
	if l.kind != opDense && l.kind != opConv || inner {
		o.OM = 0
		o.OV = 0
		s.pass.backward(s.w, l, o, s.rows)
	}
	if l.first && inner && s.inputs != 0 {
		add := op{Kind: opSenseAdd, In: int32(l.in), DV: d.v}
		add.setExtra(0, s.inputs, 0)
		s.pass.add(add)
	}
}

// reverseSum gives both parts of a sum its gradient.
func (s *stepList) reverseSum(l *layer, d signal) {
	s.back[l.input] = append(s.back[l.input], d)
	s.back[l.skip] = append(s.back[l.skip], d)
	if l.first && s.inputs != 0 {
		s.back[l.input] = append(s.back[l.input], signal{m: s.w.zeros(s.rows * l.in), v: s.inputs})
	}
}

// learn notes what the gradients of the weights of layer number i need, and gives its reverse
// what correlations add.
func (s *stepList) learn(l *layer, i int, o *op) {
	var e senseGradients
	outputs := 0
	if l.sense {
		e = s.senses[i-s.under.first]
		outputs = s.under.outputs
		o.DM = 0
		o.Tape = 0
		o.setExtra(e.slope, e.adds, e.gain)
	}
	switch l.kind {
	case opDense:
		s.pass.keep(o.M, o.V, o.G, o.H)
		s.grads.dense = append(s.grads.dense, denseGradient{layer: l, o: *o, sense: e, outputs: outputs})
		if l.mode == onPlanes {
			s.pass.cutSignal(s.w, o.G, o.H, l.out, s.rows, true)
		}
	case opConv:
		if l.mode == onRows {
			s.fold(l, *o)
			return
		}
		s.convs.all = append(s.convs.all, convGradient{layer: l, o: *o, sense: e, outputs: outputs})
		s.pass.keep(o.M, o.V, o.G, o.H)
	case opEmbed:
		s.addLevels(l, *o, e)
		s.pass.keep(o.M, o.V, o.G, o.H)
	}
}

// join returns the sum of the gradients that the layers behind a signal have by it.
func (s *stepList) join(all []signal, width int, at signal) signal {
	d := all[0]
	for _, x := range all[1:] {
		sum := s.w.signal(s.rows, width, at.v != 0)
		s.pass.add(op{Kind: opAdd, In: int32(width), M: d.m, V: d.v, G: x.m, H: x.v, OM: sum.m, OV: sum.v})
		d = sum
	}
	if at.v == 0 { // a road of numbers, where the other one is random
		d.v = 0
	}
	return d
}

// A tape holds the gradients of learned numbers, a row each.
type tape struct {
	at            cuda.Ptr
	width, tensor int
	mode          int32
}

// tapesOf gives the reverse of a layer the tapes of what it learns.
func (s *stepList) tapesOf(l *layer, o *op) []tape {
	if l.formula != nil {
		return s.formulaTapes(l, o)
	}
	x := tape{width: l.in, mode: bySoftplus}
	switch {
	case l.kind == opNoise && !l.off:
		x.mode = byVariance
	case l.kind == opScale:
	case l.kind == opAppend:
		x.width, x.mode = l.out-l.in, byItself
	case l.kind == opPeriodic:
		x.width, x.mode = (l.out-l.in)/2, byItself
	case l.kind == opLayerNorm: // the offset lies behind the gain
		x.width, x.mode = 2*l.in, byItself
	case l.kind == opApply && l.f.Rule == learned:
		x.width = 1
	default:
		return nil
	}
	x.tensor = l.tensors[0]
	x.at = s.w.floats(s.rows * x.width)
	o.Tape = x.at
	return []tape{x}
}
