package gpu

import (
	"utvi/gauss"
	"utvi/internal/cuda"
	"utvi/nn"
)

// A predictStream predicts some rows at a time: they are sent once, the networks run one behind
// the other, and all outputs come back in one piece. Its memory on the host is pinned, so
// that copies do not wait.
type predictStream struct {
	*memory
	cap      int // rows at a time
	in       signal
	x        gauss.Batch[float32]
	networks []streamNetwork
	sensed   sensedNetworks
	control  []control // of each network
	controls cuda.Ptr
	out      []float32 // of all networks
	outs     cuda.Ptr
	lo, hi   int // rows under way
}

// A streamNetwork is one network of a stream.
type streamNetwork struct {
	weights *weights
	pass    pass
	sensed  bool                 // it runs in the kernel sensed
	y       gauss.Batch[float32] // in the stream's out
}

// build lays out the memory of a stream within about the given bytes.
func (q *predictStream) build(m *memory, programs []*program, maxRows, bytes int) error {
	q.memory = m
	row, outs := 0, 0
	for _, p := range programs {
		row += p.plan.rowBytes()
		outs += p.plan.outputs()
	}
	first := programs[0].plan
	q.cap = max(rowsPerBlock, min(maxRows, streamRows, bytes/row/rowsPerBlock*rowsPerBlock))
	q.in = m.signal(q.cap, first.inputs, first.form != nn.Fixed)
	q.controls = m.alloc(len(programs), sizeControl)
	q.outs = m.floats(q.cap * outs)
	q.x = m.pinnedBatch(q.cap, first.inputs, q.in)
	q.control = pinned[control](m, len(programs))
	q.out = pinned[float32](m, q.cap*outs)
	if m.err != nil {
		return m.err
	}
	ends := q.take(programs)
	q.takeSensed(ends)
	for i := range q.networks {
		if n := &q.networks[i]; !n.sensed {
			n.build(q.in, ends[i], q.cap)
		}
	}
	if m.err == nil {
		m.err = m.stream.Sync()
	}
	if m.err != nil {
		return m.err
	}
	return q.compile()
}

// take takes the networks, whose outputs lie one behind the other, and returns these.
func (q *predictStream) take(programs []*program) []signal {
	q.networks = make([]streamNetwork, len(programs))
	ends := make([]signal, len(programs))
	at := 0
	next := func(n int) (host []float32, card cuda.Ptr) {
		host = q.out[at : at+n]
		card = q.outs.Add(4 * at)
		at += n
		return host, card
	}
	for i, p := range programs {
		w := &weights{}
		*w = *p.weights
		w.memory = q.memory
		w.recorder = &recorder{}
		w.control = q.controls.Add(i * sizeControl)
		q.control[i].Seed = p.seed
		n := &q.networks[i]
		n.weights = w
		width := p.plan.graph.Out.Size()
		n.y = gauss.Batch[float32]{Rows: q.cap, Width: width}
		n.y.Mean, ends[i].m = next(q.cap * width)
		if p.plan.varies() {
			n.y.Var, ends[i].v = next(q.cap * width)
		}
	}
	return ends
}

// compile has the driver compile the kernels of all networks.
func (q *predictStream) compile() error {
	for i := range q.networks {
		n := &q.networks[i]
		if n.sensed {
			continue
		}
		if err := n.weights.compile(func() error { return n.pass.forward(q.cap) }); err != nil {
			return err
		}
	}
	return q.sensed.compile(q.networks[0].weights.kernels)
}

// rowBytes is about how much memory a row takes.
func (p *plan) rowBytes() int {
	row := 2*4*p.inputs + 12*p.wideCols()
	for _, l := range p.layers {
		row += 8 * l.scratch
		if l.cov {
			row += 12 * l.out * l.out
		}
		if l.mode == onPlanes {
			row += 13 * l.in
		}
		row += 2 * 4 * l.out
		if l.sense {
			row += 2*4*l.steps() + 4*p.graph.Out.Size()*(l.in+l.sensed())
		}
	}
	return row
}

// outputs is how many numbers a row's prediction has.
func (p *plan) outputs() int {
	if !p.varies() {
		return p.graph.Out.Size()
	}
	return 2 * p.graph.Out.Size()
}

// varies reports whether the outputs have variances.
func (p *plan) varies() bool { return p.layers[len(p.layers)-1].to != nn.Fixed }

// build lays out the launches of a network from the rows to its outputs.
func (n *streamNetwork) build(in, end signal, rows int) {
	f := forwardList{w: n.weights, rows: rows, signals: []signal{in}}
	f.list(end)
	f.pass.keep(end.m, end.v)
	n.pass = n.weights.path.pass(n.weights, &f.pass)
}

// pinnedBatch is a batch on the host for a signal of the card.
func (m *memory) pinnedBatch(rows, width int, s signal) gauss.Batch[float32] {
	b := gauss.Batch[float32]{Rows: rows, Width: width, Mean: pinned[float32](m, rows*width)}
	if s.v != 0 {
		b.Var = pinned[float32](m, rows*width)
	}
	return b
}

// begin queues the prediction of rows lo to hi.
func (q *predictStream) begin(x gauss.Batch[float32], lo, hi int) error {
	s, n := q.stream, (hi-lo)*q.x.Width
	for i := range q.control {
		q.control[i].Row, q.control[i].Batch = uint64(lo), int32(hi-lo)
	}
	if err := cuda.Upload(s, q.controls, q.control); err != nil {
		return err
	}
	copy(q.x.Mean, x.Mean[lo*x.Width:hi*x.Width])
	if err := cuda.Upload(s, q.in.m, q.x.Mean[:n]); err != nil {
		return err
	}
	if q.in.v != 0 {
		copy(q.x.Var, x.Var[lo*x.Width:hi*x.Width])
		if err := cuda.Upload(s, q.in.v, q.x.Var[:n]); err != nil {
			return err
		}
	}
	if err := q.compute(hi - lo); err != nil {
		return err
	}
	q.lo, q.hi = lo, hi
	return cuda.Download(s, q.out, q.outs)
}

// compute queues the networks.
func (q *predictStream) compute(rows int) error {
	for i := range q.networks {
		n := &q.networks[i]
		if n.sensed {
			continue
		}
		if err := n.pass.forward(rows); err != nil {
			return err
		}
	}
	return q.sensed.run(q.memory, rows)
}

// finish waits for the rows under way and copies what was predicted.
func (q *predictStream) finish(outs []gauss.Batch[float32]) error {
	if q.lo == q.hi {
		return nil
	}
	lo, hi := q.lo, q.hi
	q.lo, q.hi = 0, 0
	if err := q.stream.Sync(); err != nil {
		return err
	}
	for i, out := range outs {
		y, w := &q.networks[i].y, out.Width
		copy(out.Mean[lo*w:hi*w], y.Mean)
		if y.Var != nil && out.Var != nil {
			copy(out.Var[lo*w:hi*w], y.Var)
		}
	}
	return nil
}
