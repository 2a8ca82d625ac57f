package gpu

import (
	"utvi/internal/cuda"
	"utvi/nn"
)

// build lays out the memory and records the graphs.
func (t *trainer) build(score op) error {
	w, layers := t.weights, t.plan.layers
	rows := t.Batch
	normal := score.Likelihood == likeNormal && score.Weighted_ == 0
	w.four = w.four && normal
	t.batch.place(t)
	t.pass.add(t.batch.gather)
	acts := []signal{t.batch.in}
	var ops []op
	var f *follow
	follows := map[int]*follow{} // by their last layers
	for i := range layers {
		l := &layers[i]
		out := w.signal(rows, l.out, l.to != nn.Fixed)
		o := w.operation(l, acts, out)
		w.scratch(l, &o, rows)
		f = w.follow(f, l, i, &o, rows)
		slopes := w.covariance(l, &o, &out, rows)
		t.pass.forward(w, l, o, rows)
		if !l.sense {
			t.pass.scaleCovariance(l, acts[l.input], out, slopes)
		}
		acts, ops = append(acts, out), append(ops, o)
		if l.last {
			f.sense(w.memory, &t.pass, layers, ops, acts)
			follows[i] = f
		}
	}
	last := len(layers) - 1
	out := acts[last+1]
	d := w.signal(rows, layers[last].out, out.v != 0)
	t.nll, t.floored = w.alloc(rows, 8), w.alloc(rows, 4)
	score.In, score.Targets = int32(layers[last].out), int32(t.Data.Targets())
	score.M = out.m
	score.V = out.v
	score.DM = d.m
	score.DV = d.v
	score.Y = t.batch.y
	score.NLL = t.nll
	score.Floored = t.floored
	score.Nodes = t.countScale()
	t.forwardOps = len(t.pass.ops)
	t.pass.add(score)
	t.grad = 0
	var tapes []tape
	var each []backSense // of the layers of f
	var inputs cuda.Ptr
	back := make([][]signal, len(layers)+1) // gradients by each signal, of every layer that reads it
	back[last+1] = []signal{d}
	for i := last; i >= 0; i-- {
		l := &layers[i]
		o := ops[i]
		in := acts[layers[i].input]
		d := t.join(back[i+1], l.out, acts[i+1])
		if l.last {
			f = follows[i]
			each, inputs = f.back(w.memory, &t.pass, layers, ops, acts, d.v, d.c)
			d.v = w.zeros(rows * l.out) // the variances that the layers gave their outputs are not used
		}
		if l.kind == opAdd { // both parts have the gradient of the sum
			back[l.input] = append(back[l.input], d)
			back[l.skip] = append(back[l.skip], d)
			if l.first && inputs != 0 {
				back[l.input] = append(back[l.input], signal{m: w.zeros(rows * l.in), v: inputs})
			}
			continue
		}
		o.G, o.H = d.m, d.v
		by := t.covarianceBack(l, &o, in, d)
		var e backSense
		k := 0
		if l.sense {
			e, k = each[i-f.first], f.k
			o.DM = 0
			o.Tape = 0
			o.TM = e.slope
			o.TV = e.adds
			o.TY = e.gain
		}
		switch l.kind {
		case opDense:
			t.grads.add(&t.pass, l, o, e, k)
			if l.cut {
				t.pass.cutGradients(w, l, o, rows)
			}
		case opConv:
			if l.folded {
				t.fold(l, o)
				break
			}
			t.convs.add(l, o, e, k)
			t.pass.keep(o.M, o.V, o.G, o.H)
		case opEmbed:
			t.addLevels(l, o, e)
			t.pass.keep(o.M, o.V, o.G, o.H)
		}
		own := t.tapes(l, &o)
		tapes = append(tapes, own...)
		inner := l.input > 0 // else nobody wants the gradient by its input
		if !inner && len(own) == 0 {
			continue
		}
		if l.kind == opMaxPool {
			o.Tape = w.floats(rows * l.out * int(2*l.image.KH*l.image.KW))
		}
		if inner {
			d = w.signal(rows, l.in, in.v != 0)
			o.DM, o.DV = d.m, d.v
			d.c = by
			back[l.input] = append(back[l.input], d)
		}
		if l.kind != opDense && l.kind != opConv || inner {
			o.OM, o.OV = 0, 0
			t.pass.backward(w, l, o, rows)
		}
		if l.first && inner && inputs != 0 {
			t.pass.add(op{Kind: opSenseAdd, In: int32(l.in), DV: d.v, TV: inputs})
		}
	}
	if normal && t.Draws == 0 {
		t.pass.chain = w.chain(t.pass.ops)
	}
	if w.four {
		t.pass.quartet = w.quartet(t.pass.ops)
		t.meet(tapes)
		t.grad = w.zeros(w.size)
		return t.buildUpdate()
	}
	if t.pass.chain != nil {
		t.linkUp(tapes)
		t.grad = w.zeros(t.grads.parts * w.size)
		return t.buildUpdate()
	}
	t.grads.plan(w, rows)
	t.grads.parts = max(t.grads.parts, t.wide.plan(w, t.grads.dense, rows), t.convs.plan(w, rows))
	t.grad = w.zeros(t.grads.parts * w.size)
	t.grads.place(w, t.grad, rows)
	t.wide.place(w, &t.pass, t.grads.dense, t.grad, rows)
	t.convs.place(w, t.grad, rows)
	t.placeLevelGradients()
	for _, x := range tapes {
		t.columns = append(t.columns, many[columnsArgs]{One: columnsArgs{Tape: x.at, Rows: int32(rows), Width: int32(x.width), Mode: x.mode,
			Raw: w.at(x.tensor), Grad: t.grad.Add(4 * w.mean[x.tensor]), Results: w.results}})
	}
	t.pass.place(w, w.results)
	if t.Draws > 0 {
		t.placeDraws()
	}
	return t.buildUpdate()
}

// A tape holds the gradients of learned numbers, a row each.
type tape struct {
	at            cuda.Ptr
	width, tensor int
	mode          int32
}

// tapes gives the reverse of a layer the tapes of what it learns.
func (t *trainer) tapes(l *layer, o *op) []tape {
	if l.formula != nil {
		return t.formulaTapes(l, o)
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
	x.at = t.floats(t.Batch * x.width)
	o.Tape = x.at
	return []tape{x}
}

// A stretch is some memory of the card.
type stretch struct {
	at    cuda.Ptr
	bytes int
}

func (t *trainer) buildUpdate() error {
	w := t.learned
	t.first, t.second = w.floats(w.size), w.floats(w.size)
	done := w.alloc(1, 4)
	parts := w.alloc(2*(len(w.chunks)+1), 8)
	t.gate = w.alloc(2, 4)
	t.norm.One = normArgs{Theta: w.theta, Grad: t.grad, Size: int64(w.size), Chunks: w.table,
		Count: int32(len(w.chunks)), Parts: parts, Control: w.control, Results: w.results,
		NLL: t.nll, Floored: t.floored, Done: done, Rows: int32(t.Batch), Slots: int32(t.batch.slots)}
	a := &w.adam.One
	a.First = t.first
	a.Second = t.second
	a.Grad = t.grad
	a.Prepare = 0
	a.Slots = int32(t.batch.slots)
	t.priors.One = priorArgs{Theta: w.theta, Chunks: w.table, Parts: parts}
	zeros := []stretch{{t.first, 4 * w.size}, {t.second, 4 * w.size}, {done, 4}, {t.gate, 8}}
	if t.pass.chain != nil {
		t.buildChain()
	}
	if t.pass.quartet != nil {
		t.buildQuartet()
	}
	t.wide.turn(t)
	t.priorSums = make([]float64, len(w.chunks))
	for i := range t.moments {
		t.moments[i] = t.params.Like()
	}
	t.control = pinned[control](w.memory, slots)
	t.result = pinned[result](w.memory, slots)
	t.start = pinned[result](w.memory, 1)
	t.rowNLL, t.rowFloored = pinned[float64](w.memory, t.Batch), pinned[int32](w.memory, t.Batch)
	if w.err != nil {
		return w.err
	}
	for _, p := range zeros {
		if err := w.stream.Zero(p.at, p.bytes); err != nil {
			return err
		}
	}
	for i := range t.control {
		t.control[i].Seed, t.control[i].Batch = t.Seed, int32(t.Batch)
	}
	if err := w.upload(t.params); err != nil {
		return err
	}
	if err := w.compile(t.queueWhole); err != nil {
		return err
	}
	var err error
	t.gradient, err = w.stream.Record(t.queueGradient)
	if err != nil {
		return err
	}
	t.update, err = w.stream.Record(t.queueUpdate)
	if err != nil {
		return err
	}
	t.whole, err = w.stream.Record(t.queueWhole)
	if err != nil || !t.pass.known() {
		return err
	}
	t.several, err = w.stream.Record(func() error {
		for range stepsTogether {
			if err := t.queueWhole(); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}
