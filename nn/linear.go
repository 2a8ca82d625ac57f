package nn

import (
	"utvi/gauss"
	"utvi/internal/compute"
	"utvi/internal/compute/affine"
	"utvi/vi"
)

// A product is the common interface of compute.Dense and compute.Conv.
type product[T gauss.Float] interface {
	TapeWidth() int
	GradTiles() int
	GradScratch(rows int) int
	PrepareTiles() int
	PrepareScratch() int
	Prepare(tile int, mean, rho, scratch []T)
	PrepareBias(mean, rho []T)
	Gradient(tile int, blocks []affine.TapeBlock[T], hasV, hasH bool, mean []T, o affine.Gradients[T], scratch []T)
}

// linear is the part of a unit that multiplies by Normal weights.
type linear[T gauss.Float] struct {
	in           Form
	weight, bias *vi.Tensor[T] // bias is nil without one
	product      product[T]
}

// declare declares out columns of weights, of the given shape with out last, and
// a bias.
func declare[T gauss.Float](b *Binder[T], fixed, noBias bool, fanIn, out int, shape ...int) (l linear[T], err error) {
	l.in = b.Form
	l.weight, err = b.Random("weight", fixed, fanIn, append(shape, out)...)
	if err == nil && !noBias {
		l.bias, err = b.Random("bias", fixed, fanIn, out)
	}
	return l, err
}

func (l *linear[T]) Form() Form        { return l.in.orRandom(l.weight.Random) }
func (l *linear[T]) TapeWidth() int    { return l.product.TapeWidth() }
func (l *linear[T]) GradTiles() int    { return l.product.GradTiles() }
func (l *linear[T]) PrepareTiles() int { return l.product.PrepareTiles() }

// linearRunner is the part of its runner that knows the weights.
type linearRunner[T gauss.Float] struct {
	*linear[T]
	train   bool
	scratch []T // for Prepare and others, one at a time
	grad    []T
	blocks  []affine.TapeBlock[T]
}

func (l *linear[T]) newRunner(maxRows, scratch int, train bool) linearRunner[T] {
	r := linearRunner[T]{linear: l, train: train, scratch: compute.Make[T](max(scratch, l.product.PrepareScratch()))}
	if train {
		r.grad = compute.Make[T](l.product.GradScratch(maxRows))
	}
	return r
}

func (r *linearRunner[T]) Prepare(tile int) {
	r.product.Prepare(tile, r.weight.Mean, r.weight.Rho, r.scratch)
	if tile == 0 && r.bias != nil {
		r.product.PrepareBias(r.bias.Mean, r.bias.Rho)
	}
}

func (r *linearRunner[T]) Gradient(tile int, blocks []Block[T]) {
	r.product.Gradient(tile, r.tapes(blocks), r.in != Fixed, r.Form() != Fixed, r.weight.Mean, r.gradients(), r.grad)
}

func (r *linearRunner[T]) tapes(blocks []Block[T]) []affine.TapeBlock[T] {
	r.blocks = r.blocks[:0]
	for _, b := range blocks {
		r.blocks = append(r.blocks, affine.TapeBlock[T]{Rows: b.Rows, Tape: b.Tape})
	}
	return r.blocks
}

func (r *linearRunner[T]) gradients() affine.Gradients[T] {
	o := affine.Gradients[T]{Mean: r.weight.GMean, Var: r.weight.GVar}
	if r.bias != nil {
		o.BiasMean, o.BiasVar = r.bias.GMean, r.bias.GVar
	}
	return o
}
