package nn

import (
	"fmt"

	"utvi/gauss"
	"utvi/internal/compute/affine"
)

// Dense is a fully connected layer: every output is Σ w·x + b with independent
// Normal weights and biases.
type Dense struct {
	Out    int  `json:"out"`
	Fixed  bool `json:"fixed,omitempty"` // weights are learned numbers, not distributions
	NoBias bool `json:"no_bias,omitempty"`
}

// Kind is "dense", as model files and the names of parameters have it.
func (Dense) Kind() string { return "dense" }

// Bind32 declares inputs × Out weights and Out biases.
func (l Dense) Bind32(b *Binder[float32]) (Unit[float32], error) { return bindDense(l, b) }

// Bind64 is Bind32 in float64, in which gradients are checked.
func (l Dense) Bind64(b *Binder[float64]) (Unit[float64], error) { return bindDense(l, b) }

// maxWeights keeps a typing error from asking for more memory than there is.
const maxWeights = 1 << 31

type dense[T gauss.Float] struct {
	linear[T]
	dense *affine.Dense[T]
	apart *affine.DenseApart[T] // where the weights' variance is kept apart, to carry correlations
}

func bindDense[T gauss.Float](l Dense, b *Binder[T]) (Unit[T], error) {
	if l.Out < 1 {
		return nil, fmt.Errorf("%d outputs; a dense layer needs at least 1", l.Out)
	}
	in := b.In.Size()
	if in > maxWeights/l.Out {
		return nil, fmt.Errorf("%d × %d weights; a layer may have at most %d", in, l.Out, maxWeights)
	}
	lin, err := declare(b, l.Fixed, l.NoBias, in, l.Out, in)
	if err != nil {
		return nil, err
	}
	u := &dense[T]{linear: lin}
	if b.Sense && u.Form() != Fixed {
		u.apart = affine.NewDenseApart[T](in, l.Out, u.weight.Random, b.Train)
		u.dense = &u.apart.Dense
		u.product = u.apart
		return u, nil
	}
	u.dense = affine.NewDense[T](in, l.Out, u.weight.Random, b.Train)
	u.product = u.dense
	return u, nil
}

func (u *dense[T]) Out() Shape { return Vec(u.dense.Out) }

func (u *dense[T]) NewRunner(maxRows int, train bool) Runner[T] {
	r := denseRunner[T]{linearRunner: u.newRunner(maxRows, u.dense.Scratch(maxRows), train), dense: u.dense}
	if u.apart != nil {
		n := maxRows * u.dense.Out
		return &denseSenser[T]{denseRunner: r, apart: u.apart, j: make([]T, n), e: make([]T, n)}
	}
	return &r
}

type denseRunner[T gauss.Float] struct {
	linearRunner[T]
	dense   *affine.Dense[T]
	shared  *denseShare[T] // nil: one worker computes all outputs
	squared bool           // the unit before writes the squares of its inputs, too
	squares []T            // where it writes them: on the tape, or in scratch

	leavesBackward bool           // the unit before takes the way back through this one
	left           gauss.Batch[T] // the gradient by the output, for that unit
}

// inputPlace: narrow inputs lie on the tape as they are.
func (r *denseRunner[T]) inputPlace(tape []T, rows int) (mean, variance []T) {
	if r.squared {
		r.squares = r.dense.TapeSquares(tape, rows)
	}
	return r.dense.TapeInput(tape, rows)
}

// gradientPlace: so do the gradients by the outputs of thin layers.
func (r *denseRunner[T]) gradientPlace(tape []T, rows int) (mean, variance []T) {
	return r.dense.TapeGradient(tape, rows)
}

func (r *denseRunner[T]) Forward(p *Pass[T]) {
	if r.shared != nil {
		r.shared.forward(p)
		return
	}
	switch {
	case r.squared && r.train:
		r.dense.ForwardSquared(p.Tape, p.In.Rows, p.In.Mean, p.In.Var, p.Out.Mean, p.Out.Var)
	case r.squared:
		r.dense.ForwardPart(0, 1, p.In.Rows, p.In.Mean, p.In.Var, p.Out.Mean, p.Out.Var, r.scratch)
	case r.train:
		r.dense.ForwardRecord(p.Tape, p.In.Rows, p.In.Mean, p.In.Var, p.Out.Mean, p.Out.Var, r.scratch)
	default:
		r.dense.Forward(p.In.Rows, p.In.Mean, p.In.Var, p.Out.Mean, p.Out.Var, r.scratch)
	}
}

func (r *denseRunner[T]) Backward(p *Pass[T]) {
	din := p.DIn
	if r.leavesBackward {
		r.left = p.DOut
		din = gauss.Batch[T]{} // only the gradients are recorded
	}
	r.dense.BackwardRecord(p.Tape, p.DOut.Rows, p.In.Mean, p.DOut.Mean, p.DOut.Var, din.Mean, din.Var, r.scratch)
}
