package gpu

import (
	"utvi/internal/cuda"
	"utvi/nn"
)

// A path is a way in which a card runs networks: which kernels take the rows, and what
// follows them in a step of training. Paths have no state; what they lay out for a network is
// a pass and, in training, a step.
type path interface {
	// accepts reports whether the path runs a network for a use. It reads the plan and the
	// card, before anything is placed.
	accepts(w *weights, u use) bool
	// arrange settles how each layer runs, before the weights are placed.
	arrange(w *weights, u use)
	// pass lays out the launches of operations that are listed.
	pass(w *weights, b *launches) pass
	// step lays out a step of training whose operations are listed.
	step(t *trainer, l *stepList) step
}

// paths are those that there are, special ones first.
var paths = []path{convNetPath{}, manyDensePath{}, denseNetPath{}, fusedPath{}, widePath{}, generalPath{}}

// choosePath returns the first path that accepts a network.
func choosePath(w *weights, u use) path {
	for _, p := range paths {
		if p.accepts(w, u) {
			return p
		}
	}
	panic("gpu: the general path refuses a network")
}

// A use is what a network is placed on a card for.
type use struct {
	train   bool
	slots   int  // steps that are queued at a time
	targets int  // of a row
	beside  int  // trainings that the job names
	normal  bool // moments are propagated, and the Normal likelihood without weights scores them
}

// A pass queues the launches that take rows through a network.
type pass interface {
	forward(rows int) error // to the outputs
	whole(rows int) error   // in training also through the score, and back
}

// A step queues the launches of a step of training.
type step interface {
	forward() error   // of the batch, to the outputs
	gradients() error // forward, score and backward, with all of the step that does not depend on the learning rate
	update() error    // what follows
	together() int    // how many steps are queued as one graph at most
}

// stepsTogether is how many steps of a special path are one graph: within it, a launch starts
// while the one before it ends.
const stepsTogether = 8

// A mode is how a layer runs.
type mode int

const (
	onRows     mode = iota // among other operations, in a launch that takes a few rows through all of them
	ownProduct             // a dense layer as a matrix product
	onPlanes               // a product whose operands are cut into planes: see wide.go
	narrow                 // a product with many inputs and few outputs: see narrow.go
	ownConv                // a convolution as launches of its own
)

// small is the part that all paths for small networks share: the weights of the network, or
// its signals at least, lie in the shared memory of a block.
type small struct{}

// arrange implements path: all layers run on rows, but for convolutions with many weights.
func (small) arrange(w *weights, _ use) {
	for i := range w.plan.layers {
		l := &w.plan.layers[i]
		if l.kind == opConv && !l.folds() {
			l.mode = ownConv
		}
	}
}

// foldedRows is how many rows a block takes at a time: so many leave a part of the gradient
// of a folded convolution, a function of the shapes and the card.
func (small) foldedRows(w *weights, rows int) int {
	if w.halves(rows) {
		return rowsPerBlock / 2
	}
	return rowsPerBlock
}

// large is the part that the paths for other networks share.
type large struct{}

// arrange implements path: dense layers with many weights, and convolutions, are launches of
// their own.
func (large) arrange(w *weights, u use) {
	for i := range w.plan.layers {
		l := &w.plan.layers[i]
		l.mode = w.modeOf(l)
		switch {
		case l.kind != opDense:
		case l.sense:
			l.transposed = u.train || l.from != nn.Fixed
		default:
			l.transposed = u.train && l.mode == onRows || l.mode == narrow
		}
	}
}

// modeOf is how a layer of a large network runs.
func (w *weights) modeOf(l *layer) mode {
	switch {
	case l.kind == opConv:
		return ownConv
	case l.kind != opDense || l.sense:
		return onRows
	}
	many := l.in*l.out >= w.kernels.leastWeights()
	switch special, ok := w.kernels.hopper.modeOf(l, w.plan.params, many); {
	case ok:
		return special
	case many:
		return ownProduct
	}
	return onRows
}

// generalPath runs every network: operations on rows, between products and convolutions that
// are launches of their own.
type generalPath struct{ large }

func (generalPath) accepts(*weights, use) bool { return true }

func (generalPath) pass(w *weights, b *launches) pass { return newStagedPass(w, b) }

func (p generalPath) step(t *trainer, l *stepList) step {
	s := p.staged(t, l)
	t.placeOptimizer(s.grad)
	return &generalStep{stagedStep: s, optimizer: t.optimizer}
}

func (generalPath) staged(t *trainer, l *stepList) *stagedStep {
	l.grads.plan(t.weights, t.Batch)
	return newStagedStep(t, l)
}

// A generalStep updates all parameters in two launches: norm and KL, then AdamW.
type generalStep struct {
	*stagedStep
	optimizer optimizer
}

func (s *generalStep) update() error {
	if err := s.queueColumns(); err != nil {
		return err
	}
	return s.optimizer.queue()
}

// An optimizer is AdamW for the parameters that are learned.
type optimizer struct {
	w    *weights
	norm many[normArgs]
}

// queue queues a step of AdamW, by gradients that are there.
func (o *optimizer) queue() error {
	grid := cuda.Grid{X: len(o.w.chunks)}
	if err := launch(o.w, o.w.kernels.norm, grid, 256, &o.norm); err != nil {
		return err
	}
	return launch(o.w, o.w.kernels.adamw, grid, 256, &o.w.adam)
}
