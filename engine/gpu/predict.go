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
	m, err := newMemory(p.engine.device)
	if err != nil {
		return nil, err
	}
	w := &weights{}
	*w = *p.weights
	w.memory = m
	w.control = w.alloc(1, sizeControl)
	q := &predictor{program: p, weights: w}
	row := 2 * 4 * p.plan.inputs
	for _, l := range p.plan.layers {
		if row += 8 * l.scratch; l.cov {
			row += 12 * l.out * l.out
		}
		if row += 2 * 4 * l.out; l.sense {
			row += 2*4*l.out + 4*p.plan.graph.Out.Size()*l.in
		}
	}
	q.cap = max(rowsPerBlock, min(maxRows, mostBytes/row/rowsPerBlock*rowsPerBlock))
	q.in = w.signal(q.cap, p.plan.inputs, p.plan.form != nn.Fixed)
	acts := []signal{q.in}
	var ops []op
	var f *follow
	for i := range p.plan.layers {
		l := &p.plan.layers[i]
		out := w.signal(q.cap, l.out, l.to != nn.Fixed)
		o := w.operation(l, acts, out)
		w.scratch(l, &o, q.cap)
		f = w.follow(f, l, i, &o, q.cap)
		slopes := w.covariance(l, &o, &out, q.cap)
		q.run.forward(l, o)
		if !l.sense {
			q.run.scaleCovariance(l, acts[i], out, slopes)
		}
		acts, ops = append(acts, out), append(ops, o)
		if l.last {
			f.sense(w.memory, &q.run, p.plan.layers, ops, acts)
		}
	}
	q.out = acts[len(acts)-1]
	q.run.place(w, 0)
	if w.err == nil {
		w.err = w.stream.Sync()
	}
	if w.err != nil {
		m.release()
		return nil, w.err
	}
	q.control = make([]control, 1)
	q.control[0].Seed = p.seed
	runtime.AddCleanup(q, (*memory).release, m)
	return q, nil
}

type predictor struct {
	*program
	weights *weights
	cap     int // rows at a time
	in, out signal
	run     launches
	control []control

	pool *compute.Pool // of the CPU, if the card fails
	rows int
	cpu  engine.Predictor[float32]
}

// Predict implements engine.Predictor. If the card fails, the CPU predicts from then on:
// nothing is lost but time.
func (q *predictor) Predict(x, out gauss.Batch[float32]) {
	if q.cpu == nil && q.weights != nil && q.predict(x, out) == nil {
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
	s := q.weights.stream
	for lo := 0; lo < x.Rows; lo += q.cap {
		hi := min(x.Rows, lo+q.cap)
		q.control[0].Row = uint64(lo)
		if err := cuda.Upload(s, q.weights.control, q.control); err != nil {
			return err
		}
		if err := cuda.Upload(s, q.in.m, x.Mean[lo*x.Width:hi*x.Width]); err != nil {
			return err
		}
		if q.in.v != 0 {
			if err := cuda.Upload(s, q.in.v, x.Var[lo*x.Width:hi*x.Width]); err != nil {
				return err
			}
		}
		if err := q.run.run(q.weights, hi-lo); err != nil {
			return err
		}
		if err := cuda.Download(s, out.Mean[lo*out.Width:hi*out.Width], q.out.m); err != nil {
			return err
		}
		if q.out.v != 0 && out.Var != nil {
			if err := cuda.Download(s, out.Var[lo*out.Width:hi*out.Width], q.out.v); err != nil {
				return err
			}
		}
		if err := s.Sync(); err != nil {
			return err
		}
	}
	return nil
}
