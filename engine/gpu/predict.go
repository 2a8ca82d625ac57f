package gpu

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"utvi/engine"
	"utvi/gauss"
	"utvi/nn"
)

// Compile implements engine.Engine.
func (e *Engine) Compile(n engine.Network[float32], form nn.Form) (engine.Program[float32], error) {
	p, err := makePlan(n, form)
	if err != nil {
		return nil, fmt.Errorf("network: %w", err)
	}
	m, err := newMemory(e.device)
	if err != nil {
		return nil, err
	}
	w, err := newWeights(e, m, p, use{})
	if err != nil {
		return nil, fmt.Errorf("network: %w", err)
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

// streamRows bounds the rows that a stream takes at a time: so many keep a card busy. Tests
// take fewer.
var streamRows = 1 << 14

// NewPredictor implements engine.Program. If the card has too little memory, the
// predictor runs on the CPU.
func (p *program) NewPredictor(pool *engine.Pool, maxRows int) engine.Predictor[float32] {
	return newPredictor([]*program{p}, pool, maxRows)
}

// newEnsemble returns a predictor of networks that read the same rows. They must be this engine's.
func (e *Engine) newEnsemble(programs []engine.Program[float32], pool *engine.Pool, maxRows int) (engine.EnsemblePredictor[float32], bool) {
	var all []*program
	for _, p := range programs {
		q, ok := p.(*program)
		if !ok || q.engine != e {
			return nil, false
		}
		all = append(all, q)
		if first := all[0].plan; q.plan.inputs != first.inputs || q.plan.form != first.form {
			return nil, false
		}
	}
	return newPredictor(all, pool, maxRows), true
}

func newPredictor(programs []*program, pool *engine.Pool, maxRows int) *predictor {
	q := &predictor{programs: programs, pool: pool, rows: maxRows}
	if q.build() != nil {
		q.streams = nil
	}
	return q
}

func (q *predictor) build() error {
	q.streams = make([]predictStream, min(2, tiles(q.rows, streamRows)))
	for i := range q.streams {
		m, err := newMemory(q.programs[0].engine.device)
		if err != nil {
			return err
		}
		runtime.AddCleanup(q, (*memory).release, m)
		if err := q.streams[i].build(m, q.programs, q.rows, mostBytes/len(q.streams)); err != nil {
			m.release()
			return err
		}
	}
	return nil
}

// A predictor takes its rows through one stream or two: while one computes, the rows of the
// other are on their way. It predicts with one network, or with several that read the
// same rows.
type predictor struct {
	programs []*program
	streams  []predictStream // nil: the CPU predicts

	one  [1]gauss.Batch[float32]
	pool *engine.Pool // of the CPU, if the card fails
	rows int
	cpu  []engine.Predictor[float32]
}

// Predict implements engine.Predictor.
func (q *predictor) Predict(x, out gauss.Batch[float32]) {
	q.one[0] = out
	q.PredictAll(x, q.one[:])
}

// PredictAll implements engine.EnsemblePredictor. If the card fails, the CPU predicts from then on:
// nothing is lost but time.
func (q *predictor) PredictAll(x gauss.Batch[float32], outs []gauss.Batch[float32]) {
	if q.cpu == nil && q.streams != nil && q.predict(x, outs) == nil {
		return
	}
	if q.cpu == nil {
		for _, p := range q.programs {
			c, err := engine.CPU[float32]().Compile(p.net, p.plan.form)
			if err != nil {
				panic("gpu: a network that was compiled cannot be compiled again")
			}
			q.cpu = append(q.cpu, c.NewPredictor(q.pool, q.rows))
		}
	}
	for i, c := range q.cpu {
		c.Predict(x, outs[i])
	}
}

func (q *predictor) predict(x gauss.Batch[float32], outs []gauss.Batch[float32]) error {
	for _, p := range q.programs {
		if err := p.refresh(); err != nil {
			return err
		}
	}
	n := 0
	for lo := 0; lo < x.Rows; n++ {
		s := &q.streams[n%len(q.streams)]
		if err := s.finish(outs); err != nil {
			return err
		}
		hi := min(x.Rows, lo+s.cap)
		if err := s.begin(x, lo, hi); err != nil {
			return err
		}
		lo = hi
	}
	for range q.streams { // those that wait longest first
		if err := q.streams[n%len(q.streams)].finish(outs); err != nil {
			return err
		}
		n++
	}
	return nil
}
