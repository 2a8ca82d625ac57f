package affine

import (
	"utvi/internal/compute/internal/cpu"
	"utvi/internal/compute/product"
)

// The tape of a block of rows holds the operands of the weight gradients: g and h, then m and
// v, as dense_lay.go lays them. Where m lies as it is, m² lies behind v, which Forward computes,
// unless there is one output.

// SquaresOnTape reports whether m² lies on the tape, too. Kernels of one output need no squares.
func (d *Dense[T]) SquaresOnTape() bool { return d.inputAsRows && !d.single }

// TapeWidth is the number of values the tape holds per row. It is a multiple of NR where
// operands lie as they are, so that those of the layers behind begin at a cache line, too.
func (d *Dense[T]) TapeWidth() int {
	width := 2*d.input.width() + 2*d.output.width()
	if d.SquaresOnTape() {
		width += d.In
	}
	return ceil(width, product.NR) * product.NR
}

// onTape is operand i of a block: g, h, m, v or m². Its capacity ends with the tape.
func (d *Dense[T]) onTape(tape []T, rows, i int) []T {
	right, left := rows*d.output.width(), rows*d.input.width()
	if i < 2 {
		return tape[i*right:][:right]
	}
	return tape[2*right+(i-2)*left:][:left]
}

// TapeInput is where a block's inputs m and v may be written in the first place: nil where
// they are packed.
func (d *Dense[T]) TapeInput(tape []T, rows int) (m, v []T) {
	if !d.inputAsRows {
		return nil, nil
	}
	return d.onTape(tape, rows, 2), d.onTape(tape, rows, 3)
}

// TapeGradient is where a block's output gradients g and h may be written in the first place:
// nil where they are packed.
func (d *Dense[T]) TapeGradient(tape []T, rows int) (g, h []T) {
	if !d.outputAsRows {
		return nil, nil
	}
	return d.onTape(tape, rows, 0), d.onTape(tape, rows, 1)
}

// TapeSquares is where a block's m² lies: nil where it does not lie on the tape.
func (d *Dense[T]) TapeSquares(tape []T, rows int) []T {
	if !d.SquaresOnTape() {
		return nil
	}
	return d.onTape(tape, rows, 4)
}

// TapePanels is where a block's output gradients g and h may be written, in panels of NR columns:
// element (i, j) at [(j/NR*rows+i)*NR + j%NR]. It is nil where they may not.
//
// The gradients are left operands of Backward and right operands of the weight gradients, which need
// panels of NR columns. With AVX-512, whose larger tiles hide the way from panel to panel, Backward
// reads the panels, too: whoever computes the gradients writes them to the tape in this form, and
// they lie nowhere else.
func (d *Dense[T]) TapePanels(tape []T, rows int) (g, h []T) {
	if !d.Panels(rows) {
		return nil, nil
	}
	return d.onTape(tape, rows, 0), d.onTape(tape, rows, 1)
}

// Panels reports whether TapePanels has a place for so many rows, and for fewer.
func (d *Dense[T]) Panels(rows int) bool {
	return d.panelsOnTape && !product.Packs[T](rows, d.Out, d.In)
}

// ForwardRecord is Forward and RecordInput; the squares are computed once.
func (d *Dense[T]) ForwardRecord(tape []T, rows int, m, v, mo, vo, scratch []T) {
	d.recordInput(tape, rows, m, v)
	if d.SquaresOnTape() {
		scratch = d.onTape(tape, rows, 4)
	}
	d.Forward(rows, m, v, mo, vo, scratch)
}

// ForwardSquared is ForwardRecord where m² lies on the tape already.
func (d *Dense[T]) ForwardSquared(tape []T, rows int, m, v, mo, vo []T) {
	d.recordInput(tape, rows, m, v)
	d.ForwardPart(0, 1, rows, m, v, mo, vo, d.onTape(tape, rows, 4))
}

// RecordInput brings a block's inputs onto its tape, unless they are there.
func (d *Dense[T]) RecordInput(tape []T, rows int, m, v []T) {
	d.recordInput(tape, rows, m, v)
	if d.SquaresOnTape() {
		d.Squares(rows, m, d.onTape(tape, rows, 4))
	}
}

func (d *Dense[T]) recordInput(tape []T, rows int, m, v []T) {
	if rows == 0 {
		return
	}
	d.input.put(d.onTape(tape, rows, 2), m, rows)
	if v != nil {
		d.input.put(d.onTape(tape, rows, 3), v, rows)
	}
}

// BackwardRecord brings a block's output gradients onto its tape, unless they are there, and is
// Backward. A nil dm is not wanted.
func (d *Dense[T]) BackwardRecord(tape []T, rows int, m, g, h, dm, dv, scratch []T) {
	if to, _ := d.TapePanels(tape, rows); to != nil && rows > 0 && h != nil && &to[0] == &g[0] {
		if dm != nil {
			d.backwardFromTape(rows, m, g, h, dm, dv)
		}
		return
	}
	d.RecordGradient(tape, rows, g, h)
	if dm != nil {
		d.Backward(rows, m, g, h, dm, dv, scratch)
	}
}

// backwardFromTape is Backward with g and h in panels on the tape.
func (d *Dense[T]) backwardFromTape(rows int, m, g, h, dm, dv []T) {
	product.MulColumnPanelsBy(product.To(cpu.As32(dm), d.In), cpu.As32(m), cpu.As32(h), cpu.As32(g), rows, d.variT.As32(), d.meanT.As32())
	if dv != nil {
		product.MulColumnPanels(product.To(cpu.As32(dv), d.In), cpu.As32(h), rows, d.secondT.As32())
	}
}

// RecordGradient brings a block's output gradients onto its tape, unless they are there.
func (d *Dense[T]) RecordGradient(tape []T, rows int, g, h []T) {
	if rows == 0 {
		return
	}
	d.output.put(d.onTape(tape, rows, 0), g, rows)
	if h != nil {
		d.output.put(d.onTape(tape, rows, 1), h, rows)
	}
}

// left is the left operand i (m, v, m²) of a run, the columns that a tile needs.
func (d *Dense[T]) left(r run[T], i int, t gradTile) product.Stretched[T] {
	return d.leftOperand(d.onTape(r.tape, r.rows, 2+i), r, t)
}

// leftOperand is the left operand x of a run, the columns that a tile needs. It reaches behind its
// own length, to the blocks that follow.
func (d *Dense[T]) leftOperand(x []T, r run[T], t gradTile) product.Stretched[T] {
	return d.input.operand(x[:cap(x)], r.rows, t.lo, r.apart)
}

// leftLen is how many numbers of a packed left operand of n rows a tile needs.
func (d *Dense[T]) leftLen(n int, t gradTile) int {
	if t.hi < d.In {
		return (t.hi - t.lo) * n
	}
	return (d.input.width() - t.lo) * n
}

// right is operand i (g, h) of a run, the columns that a tile needs.
func (d *Dense[T]) right(r run[T], i int, t gradTile) product.Stretched[T] {
	return d.rightOperand(d.onTape(r.tape, r.rows, i), r, t)
}

// rightOperand is the right operand x of a run, the columns that a tile needs.
func (d *Dense[T]) rightOperand(x []T, r run[T], t gradTile) product.Stretched[T] {
	return d.output.operand(x[:cap(x)], r.rows, t.from, r.apart)
}
