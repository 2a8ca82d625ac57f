package affine

import (
	"utvi/internal/compute"
	"utvi/internal/compute/product"
)

// The tape of a DenseApart holds m, v and the b of all followed quantities as left
// operands, then g, h, e and the a as right ones.

// TapeWidth is the number of values the tape holds per row.
func (d *DenseApart[T]) TapeWidth() int {
	return (2+d.follow)*d.input.width() + (3+d.follow)*d.output.width()
}

// RecordInput packs m and v of a block of rows.
func (d *DenseApart[T]) RecordInput(tape []T, rows int, m, v []T) {
	if rows == 0 {
		return
	}
	n := rows * d.input.width()
	d.input.put(tape[:n], m, rows)
	if v != nil {
		d.input.put(tape[n:2*n], v, rows)
	}
}

// RecordSense packs, of a block of rows, the sensitivities a of the outputs and the
// gradients b by those of the inputs, all followed quantities of a row one after the
// other.
func (d *DenseApart[T]) RecordSense(tape []T, rows int, a, b []T) {
	if d.follow == 0 || rows == 0 {
		return
	}
	left, right := rows*d.input.width(), rows*d.output.width()
	d.input.put(tape[2*left:][:d.follow*left], b, d.follow*rows)
	d.output.put(tape[(2+d.follow)*left+3*right:][:d.follow*right], a, d.follow*rows)
}

// RecordApart packs the output gradients g, h and e of a block of rows.
func (d *DenseApart[T]) RecordApart(tape []T, rows int, g, h, e []T) {
	if rows == 0 {
		return
	}
	right := rows * d.output.width()
	tape = tape[(2+d.follow)*rows*d.input.width():]
	d.output.put(tape[:right], g, rows)
	d.output.put(tape[right:2*right], h, rows)
	d.output.put(tape[2*right:3*right], e, rows)
}

// An apartTape is the tape of a block: m, v and the b, then g, h, e and the a.
type apartTape[T compute.Float] struct{ m, v, back, g, h, e, a []T }

// cut finds the operands on the tape of a run's first block.
func (d *DenseApart[T]) cut(r run[T]) (x apartTape[T]) {
	left, right := r.rows*d.input.width(), r.rows*d.output.width()
	rest := r.tape
	take := func(n int) []T {
		s := rest[:n]
		rest = rest[n:]
		return s
	}
	x.m = take(left)
	x.v = take(left)
	x.back = take(d.follow * left)
	x.g = take(right)
	x.h = take(right)
	x.e = take(right)
	x.a = take(d.follow * right)
	return x
}

// Gradient is that of Dense; the outputs have variances.
func (d *DenseApart[T]) Gradient(tile int, blocks []TapeBlock[T], hasV, _ bool, mean []T, o Gradients[T], scratch []T) {
	g := d.gradTask(tile, true, mean, o, scratch)
	all := blocks
	for add := false; len(blocks) > 0; add = true {
		r := d.next(blocks)
		d.gradientOfRun(&g, r, hasV, add)
		blocks = blocks[r.n:]
	}
	for blocks = all; d.follow > 0 && len(blocks) > 0; { // apart from mᵀg: the order of the sum does not depend on the blocks
		r := d.next(blocks)
		x := d.cut(r)
		followed := r
		followed.rows = d.follow * r.rows
		d.gradProduct(product.Onto(g.gw, d.Out), g.gradTile, followed, d.leftOperand(x.back, followed, g.gradTile), d.rightOperand(x.a, followed, g.gradTile))
		blocks = blocks[r.n:]
	}
	if hasV {
		d.addSecond(&g, false)
	}
}

// gradientOfRun adds what a run contributes, or begins the sums with it: mᵀg, (m² + v)ᵀe and vᵀh.
func (d *DenseApart[T]) gradientOfRun(g *gradTask[T], r run[T], hasV, add bool) {
	x := d.cut(r)
	t := g.gradTile
	m, v := d.leftOperand(x.m, r, t), d.leftOperand(x.v, r, t)
	byMean, byInjected := d.rightOperand(x.g, r, t), d.rightOperand(x.e, r, t)
	d.gradProduct(sum(g.gw, d.Out, add), t, r, m, byMean)
	if d.Random {
		var more *product.Stretched[T]
		if hasV {
			more = &v
		}
		d.gradProduct(sum(g.gs, d.Out, add), t, r, squares(m, d.leftLen(r.rows, t), r.n, more, g.squares), byInjected)
	}
	if hasV {
		d.gradProduct(sum(g.vh, t.to-t.from, add), t, r, v, d.rightOperand(x.h, r, t))
	}
	d.addRows(g.all.BiasMean, t, r, byMean)
	d.addRows(g.all.BiasVar, t, r, byInjected)
}
