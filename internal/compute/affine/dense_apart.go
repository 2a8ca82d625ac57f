package affine

import (
	"utvi/internal/compute"
	"utvi/internal/compute/kernel"
	"utvi/internal/compute/product"
)

// A Dense whose injected variance is kept apart serves networks that carry
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

// NewDenseApart is NewDense for a network that carries correlations.
func NewDenseApart[T compute.Float](in, out int, random, train bool) *Dense[T] {
	d := newDense[T](in, out, random, train, true)
	if !train {
		d.meanT = product.NewRight[T](out, in)
	}
	return d
}

// Follow sets how many quantities are followed back through the matrix.
func (d *Dense[T]) Follow(n int) { d.follow = n }

// ForwardApart computes rows of m', v' and j. A nil v is a deterministic input. squares
// has room for m.
func (d *Dense[T]) ForwardApart(rows int, m, v, mo, vo, j, squares []T) {
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
func (d *Dense[T]) SenseBack(rows int, a, in []T) {
	product.Mul(product.To(in, d.In), product.Rows(a, d.Out), rows, d.meanT)
}

// SenseForward takes rows of gradients by the sensitivities of the inputs to those of
// the outputs.
func (d *Dense[T]) SenseForward(rows int, b, out []T) {
	product.Mul(product.To(out, d.Out), product.Rows(b, d.In), rows, d.mean)
}

// BackwardApart computes the gradients dm, dv of rows with input means m. A nil h is
// that of a row without variance, a nil dv is not wanted; scratch has room for dm.
func (d *Dense[T]) BackwardApart(rows int, m, g, h, e, dm, dv, scratch []T) {
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

// The tape of a Dense apart holds m, v and the b of all followed quantities as left
// operands, then g, h, e and the a as right ones.

func (d *Dense[T]) tapeApart() int {
	return (2+d.follow)*d.leftWidth() + (3+d.follow)*d.rightWidth()
}

// RecordSense packs, of a block of rows, the sensitivities a of the outputs and the
// gradients b by those of the inputs, all followed quantities of a row one after the
// other. RecordInput packs m and v.
func (d *Dense[T]) RecordSense(tape []T, rows int, a, b []T) {
	if d.follow == 0 {
		return
	}
	left, right := rows*d.leftWidth(), rows*d.rightWidth()
	d.packInput(tape[2*left:][:d.follow*left], b, d.follow*rows)
	d.packGradient(tape[(2+d.follow)*left+3*right:][:d.follow*right], a, d.follow*rows)
}

// RecordApart packs the output gradients g, h and e of a block of rows.
func (d *Dense[T]) RecordApart(tape []T, rows int, g, h, e []T) {
	right := rows * d.rightWidth()
	tape = tape[(2+d.follow)*rows*d.leftWidth():]
	d.packGradient(tape[:right], g, rows)
	d.packGradient(tape[right:2*right], h, rows)
	d.packGradient(tape[2*right:3*right], e, rows)
}

// operandsApart cuts the tape of a block.
func (d *Dense[T]) operandsApart(b TapeBlock[T]) (m, v, back, g, h, e, a []T) {
	left, right := b.Rows*d.leftWidth(), b.Rows*d.rightWidth()
	cut := func(n int) []T {
		s := b.Tape[:n]
		b.Tape = b.Tape[n:]
		return s
	}
	m = cut(left)
	v = cut(left)
	back = cut(d.follow * left)
	g = cut(right)
	h = cut(right)
	e = cut(right)
	a = cut(d.follow * right)
	return
}

// gradientApart is Gradient of a Dense apart.
func (d *Dense[T]) gradientApart(blocks []TapeBlock[T], t gradTile, hasV bool, mean, gw, gs, vh, room []T, o Gradients[T]) {
	all := blocks
	for add := false; len(blocks) > 0; add = true {
		b := blocks[0] // and those that one product sums
		n, apart := d.stretches(blocks)
		m1, v1, _, g1, h1, e1, _ := d.operandsApart(b)
		m, v := d.leftOperand(m1, b.Rows, t, apart), d.leftOperand(v1, b.Rows, t, apart)
		g := d.rightOperand(g1, b.Rows, t, apart)
		h := d.rightOperand(h1, b.Rows, t, apart)
		e := d.rightOperand(e1, b.Rows, t, apart)
		d.gradProduct(gw, d.Out, t, add, b.Rows, n, m, g)
		if d.Random {
			var more *product.Stretched[T]
			if hasV {
				more = &v
			}
			d.gradProduct(gs, d.Out, t, add, b.Rows, n, squares(m, d.leftLen(b.Rows, t), n, more, room), e)
		}
		if hasV {
			d.gradProduct(vh, t.to-t.from, t, add, b.Rows, n, v, h)
		}
		d.addRows(o.BiasMean, t, b.Rows, n, g)
		d.addRows(o.BiasVar, t, b.Rows, n, e)
		blocks = blocks[n:]
	}
	for blocks = all; d.follow > 0 && len(blocks) > 0; { // apart from mᵀg: the order of the sum does not depend on the blocks
		b := blocks[0]
		n, apart := d.stretches(blocks)
		_, _, back, _, _, _, a := d.operandsApart(b)
		rows := d.follow * b.Rows
		d.gradProduct(gw, d.Out, t, true, rows, n, d.leftOperand(back, rows, t, apart), d.rightOperand(a, rows, t, apart))
		blocks = blocks[n:]
	}
	if hasV {
		d.addSecond(t, false, vh, mean, gw, nil)
	}
}
