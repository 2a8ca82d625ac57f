// Package engine runs networks: it compiles layers and parameters into programs that
// predict and train. This machine's CPU is the first engine.
//
// The seam lies above the loop over blocks of rows. An engine owns everything below
// it: how a batch is cut, where activations and gradients live, the update. Above it,
// a predictor or a trainer keeps the data, the schedules, the checkpoints and the
// report of a step. Nothing inside the kernels is abstract.
package engine

import (
	"utvi/data"
	"utvi/gauss"
	"utvi/internal/compute"
	"utvi/likelihood"
	"utvi/nn"
	"utvi/optim"
	"utvi/rng"
	"utvi/vi"
)

// A Network is what an engine compiles.
type Network[T gauss.Float] struct {
	Input  nn.Shape
	Layers nn.Chain
	Fixed  bool // every weight is a number: a network drawn from a posterior
	// Params are the host's: an engine that keeps a copy reads them when it compiles
	// and when it is told that they changed. Empty ones are filled: the first program
	// that is compiled declares the network's tensors.
	Params *vi.Params[T]
	// Expect, if set, is shown every tensor that is declared; see nn.Binder.
	Expect func(t *vi.Tensor[T]) error
	Seed   rng.Key // of rules that draw
}

// An Engine compiles networks computed in T. What it cannot run it refuses when it
// compiles, naming the layer.
type Engine[T gauss.Float] interface {
	// Name is the engine's name as a user gives it, such as "cpu".
	Name() string
	// Compile readies a network to predict inputs of the given form.
	Compile(n Network[T], form nn.Form) (Program[T], error)
	// Train readies a network to be trained.
	Train(n Network[T], j Job) (Trainer, error)
}

// A Program is a network that is ready to predict. Any number of goroutines may share
// it.
type Program[T gauss.Float] interface {
	// Graph is the network as it was bound.
	Graph() *nn.Node[T]
	// NewPredictor returns scratch for batches of at most maxRows rows, which belongs
	// to one goroutine. The pool is for work on the host.
	NewPredictor(pool *compute.Pool, maxRows int) Predictor[T]
	// Changed says that the network's parameters are no longer what they were.
	Changed()
}

// A Predictor carries batches through a program.
type Predictor[T gauss.Float] interface {
	// Predict writes the moments of the outputs for the rows of x, which has the form
	// that the program was compiled for; out.Var is nil where the outputs are fixed.
	Predict(x, out gauss.Batch[T])
}

// A Job is a training as an engine sees it.
type Job struct {
	Data       data.Source
	Likelihood likelihood.Likelihood
	Optimizer  optim.AdamW
	Batch      int // rows of a step
	Draws      int // 0 propagates moments; else networks drawn per step
	Seed       rng.Key
	Pool       *compute.Pool
}

// A Trainer is a network that is ready to be trained, with the state of its optimiser.
// It belongs to one goroutine.
type Trainer interface {
	// Gradient carries the batch of a step, counted from 1, through the network and
	// leaves the gradients of its score.
	Gradient(step int) Score
	// Update changes the parameters by the gradients, unless they are not finite.
	Update(u Update) Change
	// FitPriors sets the prior of every random tensor to its optimum.
	FitPriors(e vi.EmpiricalBayes)
	// State is where the trainer keeps its parameters and the two memories of AdamW on
	// the host. They are current after Sync; Load takes over what was changed there.
	State() State
	Sync() error
	Load() error
	// Explain names the place where a number that is not finite came up in the step
	// that was made last; what is the quantity in which it was noticed.
	Explain(what string) error
}

// A Score is what a batch came to.
type Score struct {
	NLL     float64 // mean of the rows, nats
	Floored int     // variances raised to the likelihood's floor
	Finite  bool
}

// An Update is a step of AdamW.
type Update struct {
	Step int     // counted from 1
	Rate float64 // of learning
	KL   float64 // what a nat of the KL weighs beside a row's NLL
}

// A Change is what an update came to. The KL and the norm are of the parameters and
// gradients before it.
type Change struct {
	KL, GradNorm float64
	Finite       bool // else nothing was changed, or numbers overflowed
}

// State is a training's memory on the host.
type State struct {
	Params        *vi.Params[float32]
	First, Second *vi.Params[float32] // of AdamW
}
