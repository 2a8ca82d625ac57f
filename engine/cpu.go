package engine

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"utvi/gauss"
	"utvi/nn"
	"utvi/rng"
	"utvi/vi"
)

// CPU returns the engine that runs on the cores of this machine.
func CPU[T gauss.Float]() Engine[T] { return cpu[T]{} }

type cpu[T gauss.Float] struct{}

// Name implements Engine.
func (cpu[T]) Name() string { return "cpu" }

// Abilities implements Engine: cores do all that they can without being asked.
func (cpu[T]) Abilities() Abilities[T] { return Abilities[T]{} }

// Bind binds the layers of a network as the CPU engine does, to parameters that share
// the memory of the network. The binder says what else is needed: the form of the
// inputs, memory for training, an observer of every layer.
func Bind[T gauss.Float](n Network[T], b *nn.Binder[T]) (nn.Unit[T], error) {
	b.In = n.Input
	b.Fixed = n.Fixed
	b.Expect = n.Expect
	b.Params = n.Params
	first := len(n.Params.Tensors) == 0
	if !first {
		b.Params = &vi.Params[T]{}
	}
	u, err := nn.Bind(n.Layers, b)
	if err != nil {
		return nil, fmt.Errorf("network: %w", err)
	}
	if !first {
		b.Params.Share(n.Params)
	}
	return u, nil
}

type program[T gauss.Float] struct {
	unit  nn.Unit[T]
	graph *nn.Node[T]
	seed  rng.Key

	mu       sync.Mutex
	version  atomic.Uint64
	prepared atomic.Uint64
}

func (cpu[T]) Compile(n Network[T], form nn.Form) (Program[T], error) {
	if form == nn.Covariant {
		return nil, errors.New("network: inputs with covariances are not taken")
	}
	b := &nn.Binder[T]{Form: form}
	u, err := Bind(n, b)
	if err != nil {
		return nil, err
	}
	p := &program[T]{unit: u, graph: b.Graph(), seed: n.Seed}
	p.Changed()
	return p, nil
}

func (p *program[T]) Graph() *nn.Node[T] { return p.graph }
func (p *program[T]) Changed()           { p.version.Add(1) }

// prepare prepares the weights if they have changed.
func (p *program[T]) prepare() {
	if p.prepared.Load() == p.version.Load() {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	v := p.version.Load()
	if p.prepared.Load() == v {
		return
	}
	Prepare(p.unit)
	p.prepared.Store(v)
}

// Prepare updates what a unit derives from its weights, after they have changed.
func Prepare[T gauss.Float](u nn.Unit[T]) {
	r := u.NewRunner(1, false)
	for t := range u.PrepareTiles() {
		r.Prepare(t)
	}
}

func (p *program[T]) NewPredictor(pool *Pool, maxRows int) Predictor[T] {
	q := &predictor[T]{program: p, scratch: make([]predictScratch[T], pool.Workers())}
	q.shares = newShares(pool, false, q.block)
	for i := range q.scratch {
		q.scratch[i].runner = p.unit.NewRunner(min(maxRows, oneBlock), false)
	}
	if pool.Workers() > 1 {
		q.few = p.unit.NewRunner(min(maxRows, minBlock), false)
		nn.Share(q.few, pool)
	}
	return q
}

type predictor[T gauss.Float] struct {
	*program[T]
	scratch []predictScratch[T] // one per worker
	shares  *shares
	few     nn.Runner[T] // of fewer rows than are split: shares wide layers instead; nil with one worker

	x, out gauss.Batch[T] // of the current call
}

type predictScratch[T gauss.Float] struct {
	runner nn.Runner[T]
	pass   nn.Pass[T]
}

func (q *predictor[T]) Predict(x, out gauss.Batch[T]) {
	if x.Rows == 0 {
		return
	}
	q.prepare()
	q.x, q.out = x, out
	if q.few != nil && x.Rows <= minBlock {
		q.forward(&q.scratch[0].pass, q.few, 0, x.Rows)
		return
	}
	q.shares.cut(x.Rows)
	q.shares.run()
}

func (q *predictor[T]) block(worker, _ int, rows span) {
	l := &q.scratch[worker]
	q.forward(&l.pass, l.runner, rows.from, rows.to)
}

// forward runs rows lo … hi of the batch.
func (q *predictor[T]) forward(p *nn.Pass[T], r nn.Runner[T], lo, hi int) {
	p.Seed = q.seed
	p.Step = 0
	p.Row = uint64(lo)
	p.In, p.Out = q.x.Slice(lo, hi), q.out.Slice(lo, hi)
	r.Forward(p)
}
