// Package model is a stack of layers with its parameters: built, prepared,
// predicted with, saved and loaded.
package model

import (
	"cmp"
	"fmt"
	"sync"
	"sync/atomic"

	"utvi/gauss"
	"utvi/nn"
	"utvi/rng"
	"utvi/vi"
)

// A Config describes a network.
type Config struct {
	Input  nn.Shape
	Layers nn.Chain
	Seed   uint64   // of the starting weights
	Init   vi.Init  // of the weights' means and variances; the zero value is the default
	Prior  vi.Prior // of the weights, unless a layer has its own; the zero value stands for N(0, 1)
}

// A Net is a network computed in T. Its parameters may be read and predicted
// with by any number of goroutines, as long as none changes them.
type Net[T gauss.Float] struct {
	Config Config
	Params *vi.Params[T]
	Facts  Facts          // what is known of its training
	Norm   *Normalization // of the data it was trained on; nil where there was none

	out      nn.Shape
	mu       sync.Mutex
	unit     nn.Unit[T] // for prediction; its weights are prepared on demand
	version  atomic.Uint64
	prepared atomic.Uint64
	quiet    *Net[T] // the network without noise, made on demand
}

// Model is the network that runs; Net[float64] is the one that proves it.
type Model = Net[float32]

// New builds a network.
func New(c Config) (*Model, error) { return Build[float32](c) }

// Build builds a network computed in T.
func Build[T gauss.Float](c Config) (*Net[T], error) {
	if err := cmp.Or(c.Init.Check(), c.Prior.OrStandard().Check()); err != nil {
		return nil, fmt.Errorf("network: %w", err)
	}
	n := &Net[T]{Config: c}
	var err error
	if n.unit, n.Params, err = bind[T](c, false, false); err != nil {
		return nil, err
	}
	n.out = n.unit.Out()
	n.Params.Alloc()
	n.Params.Start(rng.New(c.Seed), c.Init)
	n.Changed()
	return n, nil
}

func bind[T gauss.Float](c Config, train, fixed bool) (nn.Unit[T], *vi.Params[T], error) {
	p := &vi.Params[T]{}
	u, err := bindTo(p, c, train, fixed)
	return u, p, err
}

func bindTo[T gauss.Float](p *vi.Params[T], c Config, train, fixed bool) (nn.Unit[T], error) {
	if err := checkInput(c.Input); err != nil {
		return nil, fmt.Errorf("network: %w", err)
	}
	p.Prior = c.Prior
	b := &nn.Binder[T]{Params: p, In: c.Input, Train: train, Fixed: fixed}
	u, err := nn.Bind(c.Layers, b)
	if err != nil {
		return nil, fmt.Errorf("network: %w", err)
	}
	return u, nil
}

// Inputs and Outputs are the widths of a row.
func (n *Net[T]) Inputs() int  { return n.Config.Input.Size() }
func (n *Net[T]) Outputs() int { return n.out.Size() }

// TrainUnit binds the network a second time, for training: the unit has room for
// gradients, and its parameters share the network's memory.
func (n *Net[T]) TrainUnit() (nn.Unit[T], *vi.Params[T], error) {
	u, p, err := bind[T](n.Config, true, false)
	if err != nil {
		return nil, nil, err
	}
	p.Share(n.Params)
	p.AllocGrads()
	return u, p, nil
}

// Changed tells the network that its parameters are no longer what they were.
func (n *Net[T]) Changed() { n.version.Add(1) }

// prepare readies the weights for prediction if they have changed.
func (n *Net[T]) prepare() {
	if n.prepared.Load() == n.version.Load() {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	v := n.version.Load()
	if n.prepared.Load() == v {
		return
	}
	r := n.unit.NewRunner(1, false)
	for t := range n.unit.PrepareTiles() {
		r.Prepare(t)
	}
	n.prepared.Store(v)
}

// Draw returns a network of fixed weights drawn from the posterior of n.
func (n *Net[T]) Draw(key rng.Key) *Net[T] {
	d := &Net[T]{Config: n.Config, out: n.out}
	var err error
	if d.unit, d.Params, err = bind[T](n.Config, false, true); err != nil {
		panic("model: a network that was built cannot be bound again")
	}
	d.Params.Alloc()
	d.Redraw(n, key)
	return d
}

// Redraw draws the weights of d, a network that Draw made, anew from n.
func (d *Net[T]) Redraw(n *Net[T], key rng.Key) {
	for i, t := range n.Params.Tensors {
		t.Draw(key.Sub(uint64(i), 1), d.Params.Tensors[i].Mean)
	}
	d.Changed()
}
