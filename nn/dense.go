package nn

import (
	"fmt"

	"utvi/compute"
	"utvi/vi"
)

// Dense is a fully connected layer: every output is Σ w·x + b with independent
// Normal weights and biases.
type Dense struct {
	Out    int  `json:"out"`
	Fixed  bool `json:"fixed,omitempty"` // weights are learned numbers, not distributions
	NoBias bool `json:"no_bias,omitempty"`
}

func (Dense) Kind() string { return "dense" }

func (l Dense) Bind32(b *Binder[float32]) (Unit[float32], error) { return bindDense(l, b) }
func (l Dense) Bind64(b *Binder[float64]) (Unit[float64], error) { return bindDense(l, b) }

// maxWeights keeps a slip of the pen from asking for more memory than there is.
const maxWeights = 1 << 31

type dense[T compute.Float] struct {
	weight, bias *vi.Tensor[T] // bias is nil without one
	product      *compute.Dense[T]
}

func bindDense[T compute.Float](l Dense, b *Binder[T]) (Unit[T], error) {
	if l.Out < 1 {
		return nil, fmt.Errorf("it has %d outputs; it needs at least 1", l.Out)
	}
	in := b.In.Size()
	if in > maxWeights/l.Out {
		return nil, fmt.Errorf("it would have %d × %d weights; it may have at most %d", in, l.Out, maxWeights)
	}
	u := &dense[T]{weight: b.Random("weight", l.Fixed, in, in, l.Out)}
	if !l.NoBias {
		u.bias = b.Random("bias", l.Fixed, in, l.Out)
	}
	u.product = compute.NewDense[T](in, l.Out, u.weight.Random, b.Train)
	return u, nil
}

func (u *dense[T]) Out() Shape        { return Vec(u.product.Out) }
func (u *dense[T]) Random() bool      { return u.product.Random }
func (u *dense[T]) TapeWidth() int    { return u.product.TapeWidth() }
func (u *dense[T]) GradTiles() int    { return u.product.GradTiles() }
func (u *dense[T]) PrepareTiles() int { return u.product.PrepareTiles() }

func (u *dense[T]) NewRunner(maxRows int, train bool) Runner[T] {
	r := &denseRunner[T]{dense: u, train: train}
	r.scratch = make([]T, max(maxRows*u.product.In, u.product.PrepareScratch()))
	if train {
		r.grad = make([]T, u.product.GradScratch(maxRows))
	}
	return r
}

type denseRunner[T compute.Float] struct {
	*dense[T]
	train   bool
	scratch []T
	grad    []T
	blocks  []compute.TapeBlock[T]
}

func (r *denseRunner[T]) Prepare(tile int) {
	r.product.Prepare(tile, r.weight.Mean, r.weight.Rho, r.scratch)
	if tile == 0 && r.bias != nil {
		r.product.PrepareBias(r.bias.Mean, r.bias.Rho)
	}
}

func (r *denseRunner[T]) Forward(p *Pass[T]) {
	r.product.Forward(p.In.Rows, p.In.Mean, p.In.Var, p.Out.Mean, p.Out.Var, r.scratch)
	if r.train {
		r.product.RecordInput(p.Tape, p.In.Rows, p.In.Mean, p.In.Var)
	}
}

func (r *denseRunner[T]) Backward(p *Pass[T]) {
	rows := p.DOut.Rows
	r.product.RecordGradient(p.Tape, rows, p.DOut.Mean, p.DOut.Var)
	if p.DIn.Mean != nil {
		r.product.Backward(rows, p.In.Mean, p.DOut.Mean, p.DOut.Var, p.DIn.Mean, p.DIn.Var)
	}
}

func (r *denseRunner[T]) Gradient(tile int, blocks []Block[T]) {
	r.blocks = r.blocks[:0]
	for _, b := range blocks {
		r.blocks = append(r.blocks, compute.TapeBlock[T]{Rows: b.Rows, Tape: b.Tape})
	}
	hasV := !blocks[0].Det
	hasH := hasV || r.product.Random
	r.product.Gradient(tile, r.blocks, hasV, hasH, r.weight.Mean, r.weight.GMean, r.weight.GVar, r.grad)
	if tile == 0 && r.bias != nil {
		r.product.BiasGradient(r.blocks, hasH, r.bias.GMean, r.bias.GVar)
	}
}
