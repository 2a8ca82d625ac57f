package affine

import (
	"utvi/internal/compute"
	"utvi/internal/compute/internal/cpu"
	"utvi/internal/compute/product"
)

// The tape of a block of rows holds the operands of the weight gradients: g and h, then m and
// v. Narrow ones lie there as they are, row by row, and the layers around write them there in
// the first place (TapeInput, TapeGradient); behind m and v lies m² then, which Forward
// computes, unless there is one output. Others are packed while they are hot: g and h in panels of NR columns, m and v in
// panels of MR. With one output mᵀg is gᵀm: then m and v are the right operands, and g and h
// lie as they are, instead of one column in NR.

// maxPlain is the most columns that an operand may have to lie on the tape as it is: rows
// that are further apart share the sets of a cache.
const maxPlain = 256

func (d *Dense[T]) single() bool { return d.Out == 1 && d.In >= product.NR }

// layTape decides which operands lie on the tape as they are: right operands of products with
// one or two rows, in whole tiles of columns, and narrow left ones where the tiles of AVX-512
// read them from the second-level cache as fast as from the first.
func (d *Dense[T]) layTape() {
	if d.apart {
		return
	}
	d.plainInput = cpu.Wide && d.In <= maxPlain
	if d.single() {
		d.plainInput = d.In%product.NR == 0
	}
	d.plainGradient = d.In <= 2 && d.Out%product.NR == 0
}

// SquaresOnTape reports whether m² lies on the tape, too. Kernels of one output need no squares.
func (d *Dense[T]) SquaresOnTape() bool { return d.plainInput && !d.single() }

func (d *Dense[T]) leftWidth() int {
	switch {
	case d.plainInput:
		return d.In
	case d.single():
		return product.RightLen(1, d.In)
	}
	return ceil(d.In, product.MR) * product.MR
}

func (d *Dense[T]) rightWidth() int {
	if d.single() {
		return 1
	}
	return product.RightLen(1, d.Out)
}

// TapeWidth is the number of values the tape holds per row. It is a multiple of NR where
// operands lie as they are, so that those of the layers behind begin at a cache line, too.
func (d *Dense[T]) TapeWidth() int {
	if d.apart {
		return d.tapeApart()
	}
	width := 2*d.leftWidth() + 2*d.rightWidth()
	if d.SquaresOnTape() {
		width += d.In
	}
	return ceil(width, product.NR) * product.NR
}

// onTape is operand i of a block: g, h, m, v or m². Its capacity ends with the tape.
func (d *Dense[T]) onTape(tape []T, rows, i int) []T {
	right, left := rows*d.rightWidth(), rows*d.leftWidth()
	if i < 2 {
		return tape[i*right:][:right]
	}
	return tape[2*right+(i-2)*left:][:left]
}

// TapeInput is where a block's inputs m and v may be written in the first place: nil where
// they are packed.
func (d *Dense[T]) TapeInput(tape []T, rows int) (m, v []T) {
	if !d.plainInput {
		return nil, nil
	}
	return d.onTape(tape, rows, 2), d.onTape(tape, rows, 3)
}

// TapeGradient is where a block's output gradients g and h may be written in the first place:
// nil where they are packed.
func (d *Dense[T]) TapeGradient(tape []T, rows int) (g, h []T) {
	if !d.plainGradient {
		return nil, nil
	}
	return d.onTape(tape, rows, 0), d.onTape(tape, rows, 1)
}

// ForwardRecord is Forward and RecordInput; the squares are computed once.
func (d *Dense[T]) ForwardRecord(tape []T, rows int, m, v, mo, vo, scratch []T) {
	d.recordInput(tape, rows, m, v)
	if d.SquaresOnTape() {
		scratch = d.onTape(tape, rows, 4)
	}
	d.Forward(rows, m, v, mo, vo, scratch)
}

// TapeSquares is where a block's m² lies: nil where it does not lie on the tape.
func (d *Dense[T]) TapeSquares(tape []T, rows int) []T {
	if !d.SquaresOnTape() {
		return nil
	}
	return d.onTape(tape, rows, 4)
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
	if !d.apart {
		tape = tape[2*rows*d.rightWidth():] // behind g and h
	}
	n := rows * d.leftWidth()
	d.packInput(tape[:n], m, rows)
	if v != nil {
		d.packInput(tape[n:2*n], v, rows)
	}
}

func (d *Dense[T]) packInput(dst, src []T, rows int) {
	switch {
	case rows == 0:
	case d.plainInput:
		copyApart(dst, src)
	case d.single():
		product.Right[T]{K: rows, N: d.In, Data: dst}.Pack(src, d.In, 1)
	default:
		product.PackLeft(dst, src, rows, d.In)
	}
}

// BackwardRecord brings a block's output gradients onto its tape, unless they are there, and is
// Backward. A nil dm is not wanted.
func (d *Dense[T]) BackwardRecord(tape []T, rows int, m, g, h, dm, dv, scratch []T) {
	if to, _ := d.TapePanels(tape, rows); to != nil && rows > 0 && h != nil && &to[0] == &g[0] {
		if dm != nil {
			d.backwardPanels(rows, m, g, h, dm, dv)
		}
		return
	}
	d.RecordGradient(tape, rows, g, h)
	if dm != nil {
		d.Backward(rows, m, g, h, dm, dv, scratch)
	}
}

// RecordGradient brings a block's output gradients onto its tape, unless they are there.
func (d *Dense[T]) RecordGradient(tape []T, rows int, g, h []T) {
	d.packGradient(d.onTape(tape, rows, 0), g, rows)
	if h != nil {
		d.packGradient(d.onTape(tape, rows, 1), h, rows)
	}
}

func (d *Dense[T]) packGradient(dst, src []T, rows int) {
	switch {
	case rows == 0:
	case d.plainGradient || d.single():
		copyApart(dst, src)
	default:
		product.Right[T]{K: rows, N: d.Out, Data: dst}.Pack(src, d.Out, 1)
	}
}

// copyApart copies src to dst, unless it is dst.
func copyApart[T compute.Float](dst, src []T) {
	if &dst[0] != &src[0] {
		copy(dst, src)
	}
}

// left is the left operand i (m, v, m²) of a block and those behind it, the columns that a
// tile needs.
func (d *Dense[T]) left(b TapeBlock[T], i int, t gradTile, apart int) product.Stretched[T] {
	return d.leftOperand(d.onTape(b.Tape, b.Rows, 2+i), b.Rows, t, apart)
}

// leftOperand is the left operand x of n rows, the columns that a tile needs.
func (d *Dense[T]) leftOperand(x []T, n int, t gradTile, apart int) product.Stretched[T] {
	x = x[:cap(x)]
	switch {
	case d.plainInput && d.single():
		return product.Stretched[T]{Data: x, Apart: apart, Tile: product.NR, Row: d.In}
	case d.plainInput:
		return product.Stretched[T]{Data: x[t.lo:], Apart: apart, Tile: product.MR, Row: d.In}
	case d.single():
		return product.Stretched[T]{Data: x, Apart: apart, Tile: product.NR * n, Row: product.NR}
	}
	return product.Stretched[T]{Data: x[t.lo*n:], Apart: apart, Tile: product.MR * n, Row: product.MR}
}

// leftSquares is the left operand m² of n blocks.
func (d *Dense[T]) leftSquares(b TapeBlock[T], t gradTile, n, apart int, scratch []T) product.Stretched[T] {
	if d.SquaresOnTape() {
		return d.left(b, 2, t, apart)
	}
	return squares(d.left(b, 0, t, apart), d.leftLen(b.Rows, t), n, nil, scratch)
}

// leftLen is how many numbers of a packed left operand of n rows a tile needs.
func (d *Dense[T]) leftLen(n int, t gradTile) int {
	if t.hi < d.In {
		return (t.hi - t.lo) * n
	}
	return (d.leftWidth() - t.lo) * n
}

// right is operand i (g, h) of a block and those behind it, the columns that a tile needs.
func (d *Dense[T]) right(b TapeBlock[T], i int, t gradTile, apart int) product.Stretched[T] {
	return d.rightOperand(d.onTape(b.Tape, b.Rows, i), b.Rows, t, apart)
}

// rightOperand is the right operand x of n rows, the columns that a tile needs.
func (d *Dense[T]) rightOperand(x []T, n int, t gradTile, apart int) product.Stretched[T] {
	x = x[:cap(x)]
	switch {
	case d.single():
		return product.Stretched[T]{Data: x, Apart: apart, Tile: 0, Row: 1}
	case d.plainGradient:
		return product.Stretched[T]{Data: x[t.from:], Apart: apart, Tile: product.NR, Row: d.Out}
	}
	return product.Stretched[T]{Data: x[t.from*n:], Apart: apart, Tile: product.NR * n, Row: product.NR}
}
