package nn

import (
	"fmt"

	"utvi/gauss"
	"utvi/internal/compute/affine"
	"utvi/internal/compute/kernel"
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
	apart bool // the weights' variance is kept apart, to carry correlations
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
	u.apart = b.Sense && u.Form() != Fixed
	if u.apart {
		u.dense = affine.NewDenseApart[T](in, l.Out, u.weight.Random, b.Train)
	} else {
		u.dense = affine.NewDense[T](in, l.Out, u.weight.Random, b.Train)
	}
	u.product = u.dense
	return u, nil
}

func (u *dense[T]) Out() Shape { return Vec(u.dense.Out) }

func (u *dense[T]) NewRunner(maxRows int, train bool) Runner[T] {
	r := denseRunner[T]{linearRunner: u.newRunner(maxRows, u.dense.Scratch(maxRows), train), dense: u.dense}
	if u.apart {
		n := maxRows * u.dense.Out
		return &denseSenser[T]{denseRunner: r, j: make([]T, n), e: make([]T, n)}
	}
	return &r
}

type denseRunner[T gauss.Float] struct {
	linearRunner[T]
	dense   *affine.Dense[T]
	shared  *denseShare[T]    // nil: one worker computes all outputs
	pair    *kernel.LeakyPair // behind a layer of one input, computed together; see chain_pair.go
	squared bool              // the squares of its inputs are there, on the tape or in scratch
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
	r.dense.BackwardRecord(p.Tape, p.DOut.Rows, p.In.Mean, p.DOut.Mean, p.DOut.Var, p.DIn.Mean, p.DIn.Var, r.scratch)
}

func (r *denseRunner[T]) Gradient(tile int, blocks []Block[T]) {
	if r.pair == nil {
		r.linearRunner.Gradient(tile, blocks)
		return
	}
	if tile == 0 { // the kernel goes through whole rows: one tile sums all outputs, the others none
		r.dense.GradientOuter(r.pair, r.tapes(blocks), r.gradients(), r.grad)
	}
}
