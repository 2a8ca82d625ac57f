package affine

import (
	"utvi/internal/compute"
	"utvi/internal/compute/kernel"
	"utvi/internal/compute/product"
)

// A DenseApart is a Dense whose injected variance is kept apart. It serves networks that carry
// correlations (see nn.Correlated). What the weights add to a row is independent of
// what the row brings along,
//
//	j = (m² + v)·s + b_s          v' = j + v·w̄²
//
// and the sensitivities a of later quantities to the outputs go back to the inputs by
// the mean weights alone, a·w̄ᵀ. In reverse, with e the gradient by j, v' included, and
// b the gradients by the sensitivities of the inputs:
//
//	∂m = g·w̄ᵀ + 2m∘(e·sᵀ)        ∂v = h·(w̄²)ᵀ + e·sᵀ        ∂a = b·w̄
//	∂w̄ = mᵀg + 2w̄∘(vᵀh) + bᵀa    ∂s = (m² + v)ᵀe
type DenseApart[T compute.Float] struct {
	Dense[T]
	follow int
}

// NewDenseApart is NewDense for a network that carries correlations.
func NewDenseApart[T compute.Float](in, out int, random, train bool) *DenseApart[T] {
	d := &DenseApart[T]{}
	d.shape(in, out, random)
	d.layPanels()
	d.chooseProducts()
	d.ways.moments = (*Dense[T]).secondOfFixed
	if random {
		d.ways.moments = (*Dense[T]).secondApart
	}
	d.makeRoom(train)
	if !train {
		d.meanT = product.NewRight[T](out, in) // sensitivities go back in predictions, too
	}
	return d
}

// secondApart is the second matrix of random weights whose variance is kept apart: w̄².
func (d *Dense[T]) secondApart(s, second, mean, rho []T) {
	kernel.Square(second, mean)
	kernel.Variance(s, rho)
}

// Follow sets how many quantities are followed back through the matrix.
func (d *DenseApart[T]) Follow(n int) { d.follow = n }

// ForwardApart computes rows of m', v' and j. A nil v is a deterministic input. squares
// has room for m.
func (d *DenseApart[T]) ForwardApart(rows int, m, v, mo, vo, j, squares []T) {
	product.Mul(product.To(mo, d.Out).From(d.biasMean, 0), product.Rows(m, d.In), rows, d.mean)
	if d.Random {
		sq := squares[:rows*d.In]
		kernel.Square(sq, m[:rows*d.In])
		if v != nil {
			kernel.Add(sq, v[:rows*d.In])
		}
		product.Mul(product.To(j, d.Out).From(d.biasVar, 0), product.Rows(sq, d.In), rows, d.vari)
	} else {
		clear(j[:rows*d.Out])
	}
	if v == nil {
		copy(vo, j[:rows*d.Out])
		return
	}
	product.Mul(product.To(vo, d.Out).From(j, d.Out), product.Rows(v, d.In), rows, d.second)
}

// SenseBack takes rows of sensitivities from the outputs to the inputs.
func (d *DenseApart[T]) SenseBack(rows int, a, in []T) {
	product.Mul(product.To(in, d.In), product.Rows(a, d.Out), rows, d.meanT)
}

// SenseForward takes rows of gradients by the sensitivities of the inputs to those of
// the outputs.
func (d *DenseApart[T]) SenseForward(rows int, b, out []T) {
	product.Mul(product.To(out, d.Out), product.Rows(b, d.In), rows, d.mean)
}

// BackwardApart computes the gradients dm, dv of rows with input means m. A nil h is
// that of a row without variance, a nil dv is not wanted; scratch has room for dm.
func (d *DenseApart[T]) BackwardApart(rows int, m, g, h, e, dm, dv, scratch []T) {
	if !d.Random {
		product.Mul(product.To(dm, d.In), product.Rows(g, d.Out), rows, d.meanT)
		if dv != nil {
			product.Mul(product.To(dv, d.In), product.Rows(h, d.Out), rows, d.secondT)
		}
		return
	}
	t := scratch[:rows*d.In]
	product.Mul(product.To(t, d.In), product.Rows(e, d.Out), rows, d.variT)
	kernel.TwiceMulTo(dm[:rows*d.In], t, m[:rows*d.In])
	product.Mul(product.Onto(dm, d.In), product.Rows(g, d.Out), rows, d.meanT)
	if dv != nil {
		product.Mul(product.To(dv, d.In).From(t, d.In), product.Rows(h, d.Out), rows, d.secondT)
	}
}
