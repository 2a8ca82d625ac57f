package compute

// The tape of a block of rows holds the operands of the weight gradients, packed:
// m, m² and v in panels of MR columns, then g and h in panels of NR columns. With
// one output mᵀg is gᵀm: m, m² and v are then in panels of NR columns, and g and h
// as they are, instead of one column in NR.

func (d *Dense[T]) single() bool { return d.Out == 1 && d.In >= NR }

// maxGradPanels is the most panels of MR weight rows that one gradient tile owns:
// their left operands stay in the second-level cache while panels of g and h pass.
const maxGradPanels = 16

// gradRows is how many weight rows a gradient tile owns: an even number of tiles,
// about equal.
func (d *Dense[T]) gradRows() int {
	if d.single() {
		return d.In
	}
	panels := (d.In + MR - 1) / MR
	tiles := (panels + 2*maxGradPanels - 1) / (2 * maxGradPanels) * 2
	return (panels + tiles - 1) / tiles * MR
}

func (d *Dense[T]) leftWidth() int {
	if d.single() {
		return RightLen(1, d.In)
	}
	return (d.In + MR - 1) / MR * MR
}

func (d *Dense[T]) rightWidth() int {
	if d.single() {
		return 1
	}
	return RightLen(1, d.Out)
}

// TapeWidth is the number of values the tape holds per row.
func (d *Dense[T]) TapeWidth() int { return 3*d.leftWidth() + 2*d.rightWidth() }

// GradTiles is the number of tiles of Gradient.
func (d *Dense[T]) GradTiles() int { return (d.In + d.gradRows() - 1) / d.gradRows() }

// GradScratch is the length of the scratch Gradient needs.
func (d *Dense[T]) GradScratch() int { return d.gradRows() * d.Out }

// RecordInput packs a block's inputs onto its tape.
func (d *Dense[T]) RecordInput(tape []T, rows int, m, v []T) {
	n := rows * d.leftWidth()
	d.packInput(tape[:n], m, rows)
	Square(tape[n:2*n], tape[:n])
	if v != nil {
		d.packInput(tape[2*n:3*n], v, rows)
	}
}

func (d *Dense[T]) packInput(dst, src []T, rows int) {
	if d.single() {
		Right[T]{rows, d.In, dst}.Pack(src, d.In, 1)
	} else {
		PackLeft(dst, src, rows, d.In)
	}
}

// RecordGradient packs a block's output gradients onto its tape.
func (d *Dense[T]) RecordGradient(tape []T, rows int, g, h []T) {
	tape = tape[3*rows*d.leftWidth():]
	n := rows * d.rightWidth()
	d.packGradient(tape[:n], g, rows)
	if h != nil {
		d.packGradient(tape[n:2*n], h, rows)
	}
}

func (d *Dense[T]) packGradient(dst, src []T, rows int) {
	if d.single() {
		copy(dst, src)
	} else {
		Right[T]{rows, d.Out, dst}.Pack(src, d.Out, 1)
	}
}

// A TapeBlock is a block of rows on the tape.
type TapeBlock[T Float] struct {
	Rows int
	Tape []T
}

// Gradient computes tile's rows of ∂w̄ into gw and of ∂s into gs, summing the
// blocks in order. hasV says that the inputs had variance, hasH that the outputs
// did, as those of random weights do. mean are the weights' means.
func (d *Dense[T]) Gradient(tile int, blocks []TapeBlock[T], hasV, hasH bool, mean, gw, gs, scratch []T) {
	lo := tile * d.gradRows()
	hi := min(d.In, lo+d.gradRows())
	size := (hi - lo) * d.Out
	gw, mean = gw[lo*d.Out:][:size], mean[lo*d.Out:][:size]
	vh := scratch
	if d.Random {
		gs = gs[lo*d.Out:][:size]
		vh = gs // where ∂s begins with it
	}
	var w, s []T // what ∂w̄ and ∂s begin with
	if hasV && hasH {
		vh = vh[:size]
		d.gradProduct(vh, nil, lo, hi, blocks, 2, 1)
		TwiceMulTo(gw, mean, vh)
		w, s = gw, vh
	}
	d.gradProduct(gw, w, lo, hi, blocks, 0, 0)
	if d.Random {
		d.gradProduct(gs, s, lo, hi, blocks, 1, 1)
	}
}

// gradProduct writes rows lo … hi of a gradient: start, which is nil or dst, plus
// leftᵀ·right over all blocks. left 0, 1, 2 is m, m², v; right 0, 1 is g, h.
func (d *Dense[T]) gradProduct(dst, start []T, lo, hi int, blocks []TapeBlock[T], left, right int) {
	for _, b := range blocks {
		l, r := d.operand(b, 0, left), d.operand(b, 1, right)
		if d.single() {
			Mul(dst, d.In, start, d.In, r, 0, 1, 1, Right[T]{b.Rows, d.In, l})
		} else {
			MulPanels(dst, d.Out, start, d.Out, l[lo*b.Rows:], hi-lo, Right[T]{b.Rows, d.Out, r})
		}
		start = dst
	}
}

// operand is one of the left (side 0) or right (side 1) operands on a tape.
func (d *Dense[T]) operand(b TapeBlock[T], side, i int) []T {
	lw, rw := b.Rows*d.leftWidth(), b.Rows*d.rightWidth()
	if side == 0 {
		return b.Tape[i*lw:][:lw]
	}
	return b.Tape[3*lw+i*rw:][:rw]
}

// BiasGradient sums the output gradients of all blocks into gb and, if it is not
// nil, gs.
func (d *Dense[T]) BiasGradient(blocks []TapeBlock[T], hasH bool, gb, gs []T) {
	clear(gb)
	clear(gs)
	for _, b := range blocks {
		d.addRows(gb, b.Rows, d.operand(b, 1, 0))
		if hasH && gs != nil {
			d.addRows(gs, b.Rows, d.operand(b, 1, 1))
		}
	}
}

// addRows adds the rows of a right operand to dst.
func (d *Dense[T]) addRows(dst []T, rows int, r []T) {
	if d.single() {
		for _, g := range r {
			dst[0] += g
		}
		return
	}
	one := [1]T{1}
	Mul(dst, d.Out, dst, d.Out, one[:], 0, 0, 1, Right[T]{rows, d.Out, r})
}
