package gpu

import "utvi/internal/cuda"

// operation returns the forward operation of a layer, given the signals before it.
func (w *weights) operation(l *layer, signals []signal, out signal) op {
	in := signals[l.input]
	o := op{Kind: l.kind, In: int32(l.in), Out: int32(l.out), F: l.f, Image: l.image, M: in.m, V: in.v, OM: out.m, OV: out.v, P: l.p, Q: l.q}
	switch l.kind {
	case opDense, opConv:
		w.weigh(l, &o)
	case opApply:
		w.apply(l, &o)
	case opNoise:
		if !l.off {
			o.Raw = w.at(l.tensors[0])
		}
	case opScale, opAppend:
		o.Raw = w.at(l.tensors[0])
	case opMultiply:
		o.Raw = place(w.memory, l.by, 4)
		if l.plus != nil {
			o.B = place(w.memory, l.plus, 4)
		}
	case opAdd:
		o.G = signals[l.skip].m
		o.H = signals[l.skip].v
	case opPiecewise:
		o.Raw = place(w.memory, l.by, 4)
		o.Table = place(w.memory, l.table, 4)
	case opPeriodic:
		o.Raw = w.at(l.tensors[0])
		o.Table = place(w.memory, l.table, 4)
	case opSoftmax, opSoftmaxPoints, opConditional:
		w.jointPoints(l, &o, in)
	case opEmbed:
		o.Nodes = place(w.memory, w.tables(l), sizeLevels)
		o.Count = int32(len(l.levels))
		o.Table = place(w.memory, l.table, 4)
	case opLayerNorm:
		o.Raw = w.at(l.tensors[0])
		o.B = w.at(l.tensors[1])
	}
	return o
}

// weigh gives an operation its weights and biases.
func (w *weights) weigh(l *layer, o *op) {
	t := w.tensors[l.tensors[0]]
	o.W = w.at(l.tensors[0])
	o.S = t.s
	o.WT = t.wt
	o.ST = t.st
	if len(l.tensors) > 1 {
		o.B = w.at(l.tensors[1])
		o.BS = w.tensors[l.tensors[1]].s
	}
}

// apply gives an operation the points of its rule and what its function learns.
func (w *weights) apply(l *layer, o *op) {
	if l.nodes != nil {
		o.F.Nodes = place(w.memory, l.nodes, 4)
	}
	if len(l.nodes) == len(o.F.Three) {
		copy(o.F.Three[:], l.nodes)
	}
	if l.f.Rule == learned {
		o.F.Kappa = w.at(l.tensors[0])
	}
	if l.formula != nil {
		o.Raw = w.placeFormula(l)
	}
}

// jointPoints gives an operation on several units the points of its rule: their number is its
// Count, that of the groups which they form its Choice.
func (w *weights) jointPoints(l *layer, o *op, in signal) {
	o.Nodes = place(w.memory, l.points, 8)
	o.Count = int32(l.count)
	o.Choice = int32(l.groups)
	if l.needs {
		o.Cov = in.c
	}
	if l.kind == opConditional {
		o.Table = place(w.memory, l.table, 4)
	}
}

// scratch gives an operation its room for each row.
func (w *weights) scratch(l *layer, o *op, rows int) {
	if l.scratch > 0 {
		o.Scratch = w.alloc(rows*l.scratch, 8)
	}
}

// setExtra sets the further operands of an operation. Those of a layer that carries correlations
// are gradients: by its slopes, by the variances that it adds and by its gain.
func (o *op) setExtra(a, b, c cuda.Ptr) {
	o.Extra0 = a
	o.Extra1 = b
	o.Extra2 = c
}

// gatherFrom sets where opInput finds the rows: means, variances and targets.
func (o *op) gatherFrom(mean, variance, targets cuda.Ptr) { o.setExtra(mean, variance, targets) }

// gatheredFrom returns where opInput finds the rows.
func (o *op) gatheredFrom() (mean, variance, targets cuda.Ptr) { return o.Extra0, o.Extra1, o.Extra2 }

// addsVariances reports whether correlations add to the gradients by an operation's variances.
func (o *op) addsVariances() bool { return o.Kind != opInput && o.Extra1 != 0 }
