// Package engine runs networks: it compiles layers and parameters into programs that
// predict and train. The CPU is the first engine.
//
// The boundary lies above the loop over blocks of rows. The engine owns everything
// below: how a batch is cut into blocks, where activations and gradients are stored,
// the update. A predictor or a trainer, above, owns the data, the schedules, the
// checkpoints and the report of a step. Nothing inside the kernels is abstract.
package engine

import (
	"utvi/data"
	"utvi/gauss"
	"utvi/likelihood"
	"utvi/nn"
	"utvi/optim"
	"utvi/rng"
	"utvi/vi"
)

// A Network is what an engine compiles. Several inputs lie side by side in a row, and so do several
// outputs: which units are which is a matter of the layers.
type Network[T gauss.Float] struct {
	Input  nn.Shape
	Layers nn.Layer // an nn.Chain, or another layer with layers inside
	Fixed  bool     // every weight is a number: a network drawn from a posterior
	// Params are the host's parameters. An engine that keeps a copy reads them when it
	// compiles and after Changed. If they are empty, the first program that is
	// compiled declares the network's tensors in them.
	Params *vi.Params[T]
	// Expect, if set, is called with every declared tensor; see nn.Binder.
	Expect func(t *vi.Tensor[T]) error
	Seed   rng.Key // for rules that draw
}

// An Engine compiles networks computed in T. If it cannot run a layer, compiling
// returns an error that names the layer.
type Engine[T gauss.Float] interface {
	// Name returns the name by which users select the engine, such as "cpu".
	Name() string
	// Compile returns a program that predicts inputs of the given form.
	Compile(n Network[T], form nn.Form) (Program[T], error)
	// Train returns a trainer of the network.
	Train(n Network[T], j Job) (Trainer, error)
	// Abilities returns what the engine can do beyond that.
	Abilities() Abilities[T]
}

// A Program is a network that is ready to predict. Goroutines may share it.
type Program[T gauss.Float] interface {
	// Graph returns the nodes of the bound network.
	Graph() *nn.Node[T]
	// NewPredictor returns a predictor for batches of at most maxRows rows. It must be
	// used by one goroutine at a time. Work on the host runs on the pool.
	NewPredictor(pool *Pool, maxRows int) Predictor[T]
	// Changed must be called after the network's parameters have changed.
	Changed()
}

// A Predictor runs batches through a program.
type Predictor[T gauss.Float] interface {
	// Predict writes the moments of the outputs for the rows of x to out. x must have
	// the form that the program was compiled for. out.Var is nil if the outputs are
	// fixed.
	Predict(x, out gauss.Batch[T])
}

// A Job describes a training to an engine.
type Job struct {
	Data       data.Source
	Likelihood likelihood.Likelihood
	Optimizer  optim.AdamW
	Batch      int // rows in a step
	Draws      int // networks drawn per step; 0 propagates moments
	Seed       rng.Key
	Pool       *Pool // runs what the host does
	// Beside is how many trainings of this shape are meant to run side by side, this one
	// included; 0 means 1. The engine may choose its arithmetic by it: trainings whose jobs
	// differ in Beside may differ in bits. It is part of the plan, not of what happens: a
	// training whose Beside is 100 has the same bits if the other 99 have long ended.
	Beside int
}

// A Trainer is a network that is ready to be trained, with the state of its optimiser.
// It must be used by one goroutine at a time.
type Trainer interface {
	// Gradient carries the batch of a step, counted from 1, through the network and
	// leaves the gradients of its score.
	Gradient(step int) Score
	// Update changes the parameters by the stored gradients, unless they are not
	// finite.
	Update(u Update) Change
	// FitPriors sets the prior of every random tensor to its optimum.
	FitPriors(e vi.EmpiricalBayes)
	// State returns the parameters and AdamW's two moments in the memory of the host.
	// They are current after Sync; Load takes over changes made there.
	State() State
	Sync() error
	Load() error
	// Explain returns an error that names where in the last step a number that is not
	// finite first appeared; what is the quantity in which it was noticed.
	Explain(what string) error
}

// A Pipeline is a Trainer that can make several steps without waiting for the host in
// between.
type Pipeline interface {
	Trainer
	// Run makes the steps of the updates, which follow one another, and writes their
	// results to out. It stops after a step whose numbers are not finite; done is the
	// number of results.
	Run(updates []Update, out []Outcome) (done int)
}

// An Outcome is the result of one step: Gradient and Update.
type Outcome struct {
	Score
	Change Change
}

// A Score is the result of a batch.
type Score struct {
	NLL     float64 // mean of the rows, nats
	Floored int     // variances raised to the likelihood's floor
	Finite  bool
	Err     error // the engine failed, such as a card that was lost
}

// An Update describes a step of AdamW.
type Update struct {
	Step int     // counted from 1
	Rate float64 // learning rate
	KL   float64 // weight of one nat of KL relative to the NLL of a row
}

// A Change is the result of an update. The KL and the norm belong to the parameters
// and gradients before the update.
type Change struct {
	KL, GradNorm float64
	Finite       bool // false: nothing was changed, or numbers overflowed
	Err          error
}

// State is the memory of a training on the host.
type State struct {
	Params        *vi.Params[float32]
	First, Second *vi.Params[float32] // moments of AdamW
}
