// Package model holds networks: a stack of layers with its parameters. A network
// predicts, can be verified against drawn networks, and can be saved and loaded.
package model

import (
	"cmp"
	"fmt"
	"sync"

	"utvi/engine"
	"utvi/gauss"
	"utvi/likelihood"
	"utvi/nn"
	"utvi/rng"
	"utvi/vi"
)

// A Config describes a network.
type Config struct {
	Input  nn.Shape
	Layers nn.Chain
	Seed   uint64   // for the starting weights
	Init   vi.Init  // how weights start; the zero value is the default
	Prior  vi.Prior // of the weights, unless a layer sets another one; the zero value means N(0, 1)
}

// A Net is a network computed in T. Any number of goroutines may read its parameters
// and predict with it, as long as none changes them.
type Net[T gauss.Float] struct {
	Config Config
	Params *vi.Params[T]
	Facts  Facts // describes the training

	// Likelihood says what the outputs mean. Trainers set it; nil: not known.
	Likelihood likelihood.Likelihood

	fixed    bool             // every weight is a number
	engine   engine.Engine[T] // nil: the CPU
	mu       sync.Mutex
	programs [nn.Forms]engine.Program[T] // by the form of the inputs, made on demand
	quiet    *Net[T]                     // the network without noise, made on demand
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
	n, err := declare[T](c, false, nil)
	if err != nil {
		return nil, err
	}
	n.Params.Alloc()
	n.Params.Start(rng.New(c.Seed), c.Init)
	return n, nil
}

// declare returns a network whose parameters have no memory yet.
func declare[T gauss.Float](c Config, fixed bool, expect func(t *vi.Tensor[T]) error) (*Net[T], error) {
	if err := checkInput(c.Input); err != nil {
		return nil, fmt.Errorf("network: %w", err)
	}
	n := &Net[T]{Config: c, Params: &vi.Params[T]{Prior: c.Prior}, fixed: fixed}
	net := n.Network()
	net.Expect = expect
	p, err := engine.CPU[T]().Compile(net, nn.Fixed)
	if err != nil {
		return nil, err
	}
	n.programs[nn.Fixed] = p
	return n, nil
}

// Inputs returns the number of inputs of a row.
func (n *Net[T]) Inputs() int { return n.Config.Input.Size() }

// Outputs returns the number of outputs of a row.
func (n *Net[T]) Outputs() int { return n.Graph().Out.Size() }

// Graph returns the nodes of the built network: its layers with their names, shapes
// and tensors.
func (n *Net[T]) Graph() *nn.Node[T] { return n.programs[nn.Fixed].Graph() }

// GraphFor returns the nodes of the network for inputs of a form; see Graph.
func (n *Net[T]) GraphFor(form nn.Form) (*nn.Node[T], error) {
	p, err := n.program(form)
	if err != nil {
		return nil, err
	}
	return p.Graph(), nil
}

// Network returns the network in the form that an engine compiles.
func (n *Net[T]) Network() engine.Network[T] {
	return engine.Network[T]{Input: n.Config.Input, Layers: n.Config.Layers, Fixed: n.fixed, Params: n.Params, Seed: rng.New(n.Config.Seed)}
}

// Use makes e predict with the network from now on: new predictors run on it. An engine
// that cannot run a layer returns an error, and the network stays as it was.
func (n *Net[T]) Use(e engine.Engine[T]) error {
	p, err := e.Compile(n.Network(), nn.Fixed)
	if err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.engine, n.quiet = e, nil
	n.programs = [nn.Forms]engine.Program[T]{nn.Fixed: p}
	return nil
}

// program returns the network ready to predict inputs of a form. A network that was built
// takes fixed inputs; a layer may refuse others.
func (n *Net[T]) program(form nn.Form) (engine.Program[T], error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.programs[form] == nil {
		e := n.engine
		if e == nil {
			e = engine.CPU[T]()
		}
		p, err := e.Compile(n.Network(), form)
		if err != nil {
			return nil, err
		}
		n.programs[form] = p
	}
	return n.programs[form], nil
}

// Changed must be called after the parameters of the network have changed.
func (n *Net[T]) Changed() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, p := range n.programs {
		if p != nil {
			p.Changed()
		}
	}
	if n.quiet != nil {
		n.quiet.Changed()
	}
}

// Draw returns a network of fixed weights drawn from the posterior of n.
func (n *Net[T]) Draw(key rng.Key) *Net[T] {
	d, err := declare[T](n.Config, true, nil)
	if err != nil {
		panic("model: a network that was built cannot be bound again")
	}
	d.Params.Alloc()
	d.Redraw(n, key)
	return d
}

// Redraw draws new weights from n for d, a network that Draw made.
func (d *Net[T]) Redraw(n *Net[T], key rng.Key) {
	vi.NewSampler(n.Params).Draw(key, d.Params)
	d.Changed()
}
