// Package nn holds the layers of a network.
//
// A [Layer] is an immutable value. Binding it to an input shape declares its
// parameters and yields a [Unit]: every error and allocation happens there. Workers
// share the unit; each one has a [Runner], which owns scratch and runs blocks of rows
// forward and backward. Runners never allocate and never fail.
//
// To add a layer, write one file: the value with its Bind methods, the unit, and
// a runner with Forward beside Backward. Activation gradients are written (=),
// never accumulated; parameter gradients are written once per step by Gradient,
// which sums over blocks in row order.
package nn

import (
	"encoding/json"
	"fmt"

	"utvi/gauss"
	"utvi/rng"
	"utvi/vi"
)

// A Shape is the size of one row of a batch: height, width and channels, stored in
// that order. A vector has height and width 1.
type Shape struct {
	H, W, C int
}

// Vec returns the shape of a vector of n units.
func Vec(n int) Shape { return Shape{1, 1, n} }

// Size returns the number of units.
func (s Shape) Size() int { return s.H * s.W * s.C }

// String writes a vector as its size, and an image as height×width×channels.
func (s Shape) String() string {
	if s.H == 1 && s.W == 1 {
		return fmt.Sprint(s.C)
	}
	return fmt.Sprintf("%d×%d×%d", s.H, s.W, s.C)
}

// MarshalJSON writes a shape as height, width and channels.
func (s Shape) MarshalJSON() ([]byte, error) { return json.Marshal([3]int{s.H, s.W, s.C}) }

// A Layer is one step of a network.
type Layer interface {
	// Kind returns the name of the layer in messages, parameter names and model files.
	Kind() string
	Bind32(b *Binder[float32]) (Unit[float32], error)
	Bind64(b *Binder[float64]) (Unit[float64], error)
}

// A Binder holds what a layer needs to be bound, and collects what it declares.
type Binder[T gauss.Float] struct {
	Params *vi.Params[T]
	In     Shape
	Parts  []Part // the signals that lie side by side in the input, in a Graph; nil: it is one
	Form   Form   // of the input
	Name   string // of the layer being bound, the prefix of its parameters
	Fixed  bool   // every weight is a number: a network drawn from a posterior
	Train  bool   // allocate memory for gradients
	Sense  bool   // the layer must carry correlations: its unit must be Sensitive, unless its output is fixed

	// Expect, if set, is called with every declared tensor, before its layer allocates
	// memory for it. An error from Expect ends the binding.
	Expect func(t *vi.Tensor[T]) error

	// Weigher, if set, is told by layers within Correlated how its outputs vary with their weights,
	// after each Forward of a runner made for training.
	Weigher Weigher[T]

	// Observe, if set, is called with the output of every layer after each Forward;
	// layers inside a Composite come before the Composite itself. The batch is valid
	// only during the call.
	Observe func(n *Node[T], out gauss.Batch[T])

	layers uint32
	root   *Node[T]
	parent *Node[T] // of the layer being bound
	owned  spans    // tensors of the layers within it
}

// Random declares a tensor of Normal weights, or of numbers if fixed is set.
func (b *Binder[T]) Random(name string, fixed bool, fanIn int, shape ...int) (*vi.Tensor[T], error) {
	if fixed || b.Fixed {
		return b.declared(b.Params.Point(b.Name+"."+name, fanIn, nil, shape...))
	}
	return b.declared(b.Params.Random(b.Name+"."+name, fanIn, shape...))
}

// RandomFrom declares a tensor of Normals that all start at the given mean and
// standard deviation, or of numbers that start at mean in a network of fixed weights.
// The zero prior stands for Params.Prior.
func (b *Binder[T]) RandomFrom(name string, mean, std float64, prior vi.Prior, shape ...int) (*vi.Tensor[T], error) {
	if b.Fixed {
		return b.Point(name, mean, shape...)
	}
	t := b.Params.RandomFrom(b.Name+"."+name, mean, std, shape...)
	if prior != (vi.Prior{}) {
		if err := prior.Check(); err != nil {
			return nil, err
		}
		t.Prior = prior
	}
	return b.declared(t)
}

// Point declares a tensor of numbers that start at value.
func (b *Binder[T]) Point(name string, value float64, shape ...int) (*vi.Tensor[T], error) {
	return b.declared(b.Params.Point(b.Name+"."+name, 1, func(int) float64 { return value }, shape...))
}

func (b *Binder[T]) declared(t *vi.Tensor[T]) (*vi.Tensor[T], error) {
	for _, x := range b.Params.Tensors {
		if x != t && x.Name == t.Name { // a file could not hold both
			return nil, fmt.Errorf("two parameters have the name %q; give the tensors of a layer, and the layers within it (nn.BindChild), different names", t.Name)
		}
	}
	if b.Expect != nil {
		return t, b.Expect(t)
	}
	return t, nil
}

// Index returns a number that no other layer of the network has, for the random stream
// of the layer.
func (b *Binder[T]) Index() uint32 {
	b.layers++
	return b.layers
}

// A Unit is a layer bound to its shape and parameters. Goroutines may share it.
type Unit[T gauss.Float] interface {
	Out() Shape
	Form() Form        // of the output
	TapeWidth() int    // values per row that Backward stores for Gradient
	GradTiles() int    // independent pieces of Gradient
	PrepareTiles() int // independent pieces of Prepare
	NewRunner(maxRows int, train bool) Runner[T]
}

// A Runner runs a unit on blocks of rows. It is used by one worker.
type Runner[T gauss.Float] interface {
	// Prepare readies a tile of the unit's weights. The engine calls it for all tiles
	// before the first Forward and whenever the parameters have changed; it may be
	// called on any runner of the unit, so what it prepares belongs to the unit.
	Prepare(tile int)
	// Forward computes p.Out from p.In.
	Forward(p *Pass[T])
	// Backward computes p.DIn from p.DOut, for the block Forward saw last, and
	// leaves on the tape what Gradient needs. p.In and p.Out are still what Forward
	// saw and wrote. A nil p.DIn.Mean is not wanted.
	Backward(p *Pass[T])
	// Gradient computes a tile of the parameter gradients from all blocks.
	Gradient(tile int, blocks []Block[T])
}

// A Pass is one block of rows on its way through one unit. Signals of the form Fixed
// have no variances: In.Var and DIn.Var are nil if the unit was bound to a fixed
// input, Out.Var and DOut.Var if its output is fixed.
type Pass[T gauss.Float] struct {
	Seed rng.Key
	Step uint64
	Row  uint64 // of the block's first row in the batch

	In, Out   gauss.Batch[T]
	DIn, DOut gauss.Batch[T]

	// Tape has room for TapeWidth values a row, in the runner's own order. Forward and
	// Backward of a block get the same tape, and both may write to it; together they
	// write all that Gradient reads. In prediction it may be nil. A composite hands each child the
	// same part of the tape in Forward, in Backward and in the blocks of Gradient.
	Tape []T
}

// A Block is what Backward stored for a block of rows.
type Block[T gauss.Float] struct {
	Rows int
	Tape []T
}

// columns sums the tapes of all blocks over their rows, in row order, and passes each
// of the width sums to set.
func columns[T gauss.Float](blocks []Block[T], width int, set func(i int, sum float64)) {
	for i := range width {
		var sum float64
		for _, b := range blocks {
			for j := i; j < b.Rows*width; j += width {
				sum += float64(b.Tape[j])
			}
		}
		set(i, sum)
	}
}

// Stateless is the part of a unit that has no parameters: embed it in a unit, set to the
// Form of the output.
type Stateless Form

// Form is the form of the output.
func (s Stateless) Form() Form { return Form(s) }

// TapeWidth is 0: Gradient needs nothing of Backward.
func (Stateless) TapeWidth() int { return 0 }

// GradTiles is 0: there is no gradient to compute.
func (Stateless) GradTiles() int { return 0 }

// PrepareTiles is 0: there are no weights to prepare.
func (Stateless) PrepareTiles() int { return 0 }

// Weightless is the part of a runner that has no parameters: embed it in the runner of a
// Stateless unit.
type Weightless[T gauss.Float] struct{}

// Prepare does nothing.
func (Weightless[T]) Prepare(int) {}

// Gradient does nothing.
func (Weightless[T]) Gradient(int, []Block[T]) {}
