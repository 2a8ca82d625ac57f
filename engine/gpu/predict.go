package gpu

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"utvi/engine"
	"utvi/gauss"
	"utvi/internal/compute"
	"utvi/internal/cuda"
	"utvi/nn"
)

// Compile implements engine.Engine.
func (e *Engine) Compile(n engine.Network[float32], form nn.Form) (engine.Program[float32], error) {
	p, err := makePlan(n, form)
	if err != nil {
		return nil, fmt.Errorf("network: %w", err)
	}
	w, err := newWeights(e, p, false, 0)
	if err != nil {
		return nil, err
	}
	q := &program{weights: w, engine: e, net: n, seed: n.Seed}
	runtime.AddCleanup(q, (*memory).release, w.memory)
	return q, nil
}

// A program predicts. Its weights lie on the card once for all predictors.
type program struct {
	*weights
	engine *Engine
	net    engine.Network[float32]
	seed   [2]uint32

	mu      sync.Mutex
	version atomic.Uint64 // of the host's parameters
	current uint64        // version on the card
}

func (p *program) Graph() *nn.Node[float32] { return p.plan.graph }
func (p *program) Changed()                 { p.version.Add(1) }

// refresh copies the parameters to the card if they have changed.
func (p *program) refresh() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if v := p.version.Load(); p.current != v {
		if err := p.upload(p.plan.params); err != nil {
			return err
		}
		p.current = v
	}
	return nil
}

// mostBytes bounds the activations of a predictor.
const mostBytes = 256 << 20

// laneRows bounds the rows that a lane takes at a time: so many keep a card busy. Tests
// take fewer.
var laneRows = 1 << 14

// NewPredictor implements engine.Program. If the card has too little memory, the
// predictor runs on the CPU.
func (p *program) NewPredictor(pool *compute.Pool, maxRows int) engine.Predictor[float32] {
	q, err := p.newPredictor(maxRows)
	if err != nil {
		q = &predictor{program: p}
	}
	q.pool, q.rows = pool, maxRows
	return q
}

func (p *program) newPredictor(maxRows int) (*predictor, error) {
	q := &predictor{program: p, lanes: make([]lane, min(2, tiles(maxRows, laneRows)))}
	for i := range q.lanes {
		w := &weights{}
		*w = *p.weights
		m, err := newMemory(p.engine.device)
		if err != nil {
			return nil, err
		}
		runtime.AddCleanup(q, (*memory).release, m)
		w.memory = m
		if err := q.lanes[i].build(w, maxRows, mostBytes/len(q.lanes)); err != nil {
			m.release()
			return nil, err
		}
		q.lanes[i].control[0].Seed = p.seed
	}
	return q, nil
}

// A predictor takes its rows through one lane or two: while one computes, the rows of the
// other are on their way.
type predictor struct {
	*program
	lanes []lane

	pool *compute.Pool // of the CPU, if the card fails
	rows int
	cpu  engine.Predictor[float32]
}

// A lane predicts some rows at a time. Its batches on the host are pinned, so that copies
// do not wait.
type lane struct {
	weights *weights
	cap     int // rows at a time
	in, out signal
	run     launches
	control []control
	x, y    gauss.Batch[float32]
	lo, hi  int // rows under way
}

// build lays out the memory of a lane within about the given bytes.
func (q *lane) build(w *weights, maxRows, bytes int) error {
	p := w.plan
	q.weights = w
	w.control = w.alloc(1, sizeControl)
	row := 2 * 4 * p.inputs
	for _, l := range p.layers {
		row += 8 * l.scratch
		if l.cov {
			row += 12 * l.out * l.out
		}
		if row += 2 * 4 * l.out; l.sense {
			row += 2*4*l.out + 4*p.graph.Out.Size()*l.in
		}
	}
	q.cap = max(rowsPerBlock, min(maxRows, laneRows, bytes/row/rowsPerBlock*rowsPerBlock))
	q.in = w.signal(q.cap, p.inputs, p.form != nn.Fixed)
	acts := []signal{q.in}
	var ops []op
	var f *follow
	for i := range p.layers {
		l := &p.layers[i]
		out := w.signal(q.cap, l.out, l.to != nn.Fixed)
		o := w.operation(l, acts, out)
		w.scratch(l, &o, q.cap)
		f = w.follow(f, l, i, &o, q.cap)
		slopes := w.covariance(l, &o, &out, q.cap)
		q.run.forward(l, o)
		if !l.sense {
			q.run.scaleCovariance(l, acts[l.input], out, slopes)
		}
		acts, ops = append(acts, out), append(ops, o)
		if l.last {
			f.sense(w.memory, &q.run, p.layers, ops, acts)
		}
	}
	q.out = acts[len(acts)-1]
	q.run.place(w, 0)
	q.control = pinned[control](w.memory, 1)
	q.x, q.y = w.pinnedBatch(q.cap, p.inputs, q.in), w.pinnedBatch(q.cap, p.graph.Out.Size(), q.out)
	if w.err == nil {
		w.err = w.stream.Sync()
	}
	return w.err
}

// pinnedBatch is a batch on the host for a signal of the card.
func (w *weights) pinnedBatch(rows, width int, s signal) gauss.Batch[float32] {
	b := gauss.Batch[float32]{Rows: rows, Width: width, Mean: pinned[float32](w.memory, rows*width)}
	if s.v != 0 {
		b.Var = pinned[float32](w.memory, rows*width)
	}
	return b
}

// Predict implements engine.Predictor. If the card fails, the CPU predicts from then on:
// nothing is lost but time.
func (q *predictor) Predict(x, out gauss.Batch[float32]) {
	if q.cpu == nil && q.lanes != nil && q.predict(x, out) == nil {
		return
	}
	if q.cpu == nil {
		p, err := engine.CPU[float32]().Compile(q.net, q.plan.form)
		if err != nil {
			panic("gpu: a network that was compiled cannot be compiled again")
		}
		q.cpu = p.NewPredictor(q.pool, q.rows)
	}
	q.cpu.Predict(x, out)
}

func (q *predictor) predict(x, out gauss.Batch[float32]) error {
	if err := q.refresh(); err != nil {
		return err
	}
	n := 0
	for lo := 0; lo < x.Rows; n++ {
		l := &q.lanes[n%len(q.lanes)]
		if err := l.finish(out); err != nil {
			return err
		}
		hi := min(x.Rows, lo+l.cap)
		if err := l.begin(x, lo, hi); err != nil {
			return err
		}
		lo = hi
	}
	for range q.lanes { // those that wait longest first
		if err := q.lanes[n%len(q.lanes)].finish(out); err != nil {
			return err
		}
		n++
	}
	return nil
}

// begin queues the prediction of rows lo to hi.
func (q *lane) begin(x gauss.Batch[float32], lo, hi int) error {
	s, n, k := q.weights.stream, (hi-lo)*q.x.Width, (hi-lo)*q.y.Width
	q.control[0].Row = uint64(lo)
	if err := cuda.Upload(s, q.weights.control, q.control); err != nil {
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
	if err := q.run.run(q.weights, hi-lo); err != nil {
		return err
	}
	if err := cuda.Download(s, q.y.Mean[:k], q.out.m); err != nil {
		return err
	}
	if q.out.v != 0 {
		if err := cuda.Download(s, q.y.Var[:k], q.out.v); err != nil {
			return err
		}
	}
	q.lo, q.hi = lo, hi
	return nil
}

// finish waits for the rows under way and copies what was predicted.
func (q *lane) finish(out gauss.Batch[float32]) error {
	if q.lo == q.hi {
		return nil
	}
	lo, hi := q.lo*out.Width, q.hi*out.Width
	q.lo, q.hi = 0, 0
	if err := q.weights.stream.Sync(); err != nil {
		return err
	}
	copy(out.Mean[lo:hi], q.y.Mean)
	if q.out.v != 0 && out.Var != nil {
		copy(out.Var[lo:hi], q.y.Var)
	}
	return nil
}
