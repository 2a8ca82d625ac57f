// Package affine holds the maps with weights, dense and convolutional, of the moments of their
// inputs: forward, back to the inputs, and to the weights.
package affine

import (
	"runtime"

	"utvi/internal/compute"
	"utvi/internal/compute/internal/cpu"
	"utvi/internal/compute/kernel"
	"utvi/internal/compute/product"
)

// Dense is the moment product of a weight matrix (in × out, row-major) whose
// entries are Normals with mean w̄ and variance s, prepared for many rows:
//
//	m' = m·w̄ + b̄          v' = m²·s + v·(w̄² + s) + b_s
//
// and its reverse, from gradients g, h of a loss with respect to m' and v':
//
//	∂m = g·w̄ᵀ + 2m∘(h·sᵀ)      ∂v = h·(w̄²+s)ᵀ
//	∂w̄ = mᵀg + 2w̄∘(vᵀh)        ∂s = (m²)ᵀh + vᵀh
//
// Weights are packed once per step, 16 rows a tile or more. The operands of the weight
// gradients are packed once per row while they are hot, onto the tape.
type Dense[T compute.Float] struct {
	In, Out int
	Random  bool // s is not zero

	mean, vari, second    product.Right[T] // w̄, s, w̄²+s
	meanT, variT, secondT product.Right[T] // their transposes, for training
	columns               []T              // of w̄, s and w̄²+s one after the other, in the place of the first three; see dense_thin.go
	biasMean, biasVar     []T

	ways          ways[T]
	input, output lay[T] // how m and v, g and h lie on the tape; see dense_lay.go

	// What of the above holds, for those around who ask.
	single                    bool // one output and enough inputs: the operands of gradients change places
	thin                      bool // few outputs; see dense_thin.go
	together                  bool // one kernel prepares whole tiles; see dense_prepare.go
	inputAsRows, outputAsRows bool
	panelsOnTape              bool // g and h may be written to the tape in panels; see TapePanels
	outer                     bool // one input; see dense_pair.go

	gradRows, gradOutputs int // of a tile of gradients; see dense_tiles.go
}

// ways are how a Dense does its work: of the few ways of each task the one for its shape, its
// weights and the family of kernels. newDense chooses them; nothing asks again.
type ways[T compute.Float] struct {
	moments  func(d *Dense[T], s, second, mean, rho []T)         // s and the second matrix of a tile's weights
	keep     func(d *Dense[T], matrix, lo, hi int, src []T)      // rows lo … hi of w̄ (0), s (1) or w̄²+s (2)
	forward  func(d *Dense[T], rows int, m, v, mo, vo, room []T) // Forward
	part     func(d *Dense[T], p part, rows int, m, v, mo, vo, squares []T)
	backward func(d *Dense[T], rows int, m, g, h, dm, dv, room []T)  // Backward
	gradient func(d *Dense[T], g gradTask[T], blocks []TapeBlock[T]) // a tile of Gradient, where inputs and outputs have variances
}

// NewDense returns the product of an in × out matrix; train makes room for the
// reverse.
func NewDense[T compute.Float](in, out int, random, train bool) *Dense[T] {
	thin := cpu.Vector && cpu.Is32[T]() && out <= product.MaxDot && in > product.MaxDot
	return newDense[T](in, out, random, train, thin)
}

func newDense[T compute.Float](in, out int, random, train, thin bool) *Dense[T] {
	d := &Dense[T]{thin: thin}
	d.shape(in, out, random)
	wide := cpu.Wide && cpu.Is32[T]() && random && out%product.NR == 0
	d.together = wide && train && !thin && in*out < streamFrom
	d.outer = wide && in == 1
	d.layTape()
	d.panelsOnTape = wide && !d.single && !d.outputAsRows
	d.chooseProducts()
	d.chooseGradient()
	d.ways.moments = (*Dense[T]).secondOfFixed
	if random {
		d.ways.moments = (*Dense[T]).secondOfRandom
	}
	d.makeRoom(train)
	return d
}

// shape sets what all kinds have.
func (d *Dense[T]) shape(in, out int, random bool) {
	d.In = in
	d.Out = out
	d.Random = random
	d.single = out == 1 && in >= product.NR
	d.shareGradients(runtime.GOMAXPROCS(0))
	d.biasMean = make([]T, out)
	d.biasVar = make([]T, out)
}

// makeRoom allocates the matrices, in one stretch of memory, and for training their transposes.
func (d *Dense[T]) makeRoom(train bool) {
	matrices := []*product.Right[T]{&d.mean, &d.second}
	transposes := []*product.Right[T]{&d.meanT, &d.secondT}
	if d.Random {
		matrices = append(matrices, &d.vari)
		transposes = append(transposes, &d.variT)
	}
	if d.thin {
		d.columns = make([]T, 3*d.In*d.Out)
	} else {
		product.NewRights(d.In, d.Out, matrices)
	}
	if train {
		product.NewRights(d.Out, d.In, transposes)
	}
}

// chooseProducts takes the ways of Forward and Backward.
func (d *Dense[T]) chooseProducts() {
	w := &d.ways
	w.keep = (*Dense[T]).keepPanels
	w.forward = (*Dense[T]).forwardPanels
	w.part = (*Dense[T]).partOfPanels
	w.backward = (*Dense[T]).backwardPanels
	if d.Random && product.Packs[T](product.MR+1, d.In, d.Out) {
		w.forward = (*Dense[T]).forwardPacked
	}
	if d.Random && product.Packs[T](product.MR+1, d.Out, d.In) {
		w.backward = (*Dense[T]).backwardPacked
	}
	if !d.thin {
		return
	}
	w.keep = (*Dense[T]).keepColumns
	w.forward = (*Dense[T]).forwardColumns
	w.part = (*Dense[T]).partOfColumns
	if d.Random && d.Out == 1 {
		w.backward = (*Dense[T]).backwardOne
	}
	if d.fuses() && d.In <= maxFused {
		w.forward = (*Dense[T]).forwardOne
	}
}

// chooseGradient takes the way of the weight gradients.
func (d *Dense[T]) chooseGradient() {
	switch {
	case d.fuses():
		d.ways.gradient = (*Dense[T]).gradientOne
	case d.beginsSums():
		d.ways.gradient = (*Dense[T]).gradientBegun
	default:
		d.ways.gradient = (*Dense[T]).gradientApartFromSecond
	}
}

// Forward computes rows of m', v'. A nil v is a deterministic input; a nil vo is
// not wanted. scratch has the length Scratch.
func (d *Dense[T]) Forward(rows int, m, v, mo, vo, scratch []T) {
	d.ways.forward(d, rows, m, v, mo, vo, scratch)
}

// Backward computes the gradients dm, dv of rows with input means m from g, h. A
// nil h is the gradient of a deterministic output; a nil dv is not wanted. scratch has the
// length Scratch.
func (d *Dense[T]) Backward(rows int, m, g, h, dm, dv, scratch []T) {
	d.ways.backward(d, rows, m, g, h, dm, dv, scratch)
}

// Scratch is the length of the scratch that Forward and Backward need for so many rows.
func (d *Dense[T]) Scratch(rows int) int {
	return ceil(rows, product.MR) * product.MR * max(d.In, d.Out)
}

// Squares computes the squares of rows of m that the variances need.
func (d *Dense[T]) Squares(rows int, m, squares []T) {
	if d.Random {
		kernel.Square(squares[:rows*d.In], m[:rows*d.In])
	}
}

func ceil(n, by int) int { return (n + by - 1) / by }
