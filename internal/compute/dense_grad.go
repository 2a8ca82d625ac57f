package compute

// The tape of a block of rows holds the operands of the weight gradients, packed:
// m and v in panels of MR columns, then g and h in panels of NR columns. With one
// output mᵀg is gᵀm: m and v are then in panels of NR columns, and g and h as they
// are, instead of one column in NR.

func (d *Dense[T]) single() bool { return d.Out == 1 && d.In >= NR }

// maxGradPanels is the most panels of MR weight rows that one gradient tile owns:
// their left operands stay in the second-level cache while panels of g and h pass.
// At least minGradPanels read g and h.
const maxGradPanels, minGradPanels = 16, 4

// gradRows is how many weight rows a gradient tile owns: about as many tiles for each
// core, of equal size. The bits of a gradient do not depend on it. With many cores, a
// single tile each would leave cores idle that begin with a small layer.
func (d *Dense[T]) gradRows() int {
	if d.single() {
		return d.In
	}
	panels, cores := (d.In+MR-1)/MR, max(2, d.cores)
	each := (panels + cores*maxGradPanels - 1) / (cores * maxGradPanels)
	if each == 1 && cores > 4 {
		each = 3
	}
	tiles := each * cores
	return max(minGradPanels, (panels+tiles-1)/tiles) * MR
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
func (d *Dense[T]) TapeWidth() int {
	if d.apart {
		return d.tapeApart()
	}
	return 2*d.leftWidth() + 2*d.rightWidth()
}

// GradTiles is the number of tiles of Gradient.
func (d *Dense[T]) GradTiles() int { return (d.In + d.gradRows() - 1) / d.gradRows() }

// GradScratch is the length of the scratch Gradient needs for blocks of at most
// rows rows: a tile of vᵀh, and the squares of a tile's left operand.
func (d *Dense[T]) GradScratch(rows int) int {
	return d.gradRows()*d.Out + min(d.leftWidth(), d.gradRows()+NR)*rows
}

// RecordInput packs a block's inputs onto its tape.
func (d *Dense[T]) RecordInput(tape []T, rows int, m, v []T) {
	n := rows * d.leftWidth()
	d.packInput(tape[:n], m, rows)
	if v != nil {
		d.packInput(tape[n:2*n], v, rows)
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
	tape = tape[2*rows*d.leftWidth():]
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
	vh, squares := scratch[:size], scratch[size:]
	if d.Random {
		gs = gs[lo*d.Out:][:size]
	}
	if d.apart {
		d.gradientApart(blocks, lo, hi, hasV, mean, gw, gs, vh, squares)
		return
	}
	for i, b := range blocks { // all that reads a block's g and h while they are in cache
		g, h := d.right(b, 0), d.right(b, 1)
		m := d.left(b, 0, lo, hi)
		d.gradProduct(gw, i > 0, b.Rows, hi-lo, m, g)
		if d.Random {
			Square(squares[:len(m)], m)
			d.gradProduct(gs, i > 0, b.Rows, hi-lo, squares, h)
		}
		if hasV && hasH {
			d.gradProduct(vh, i > 0, b.Rows, hi-lo, d.left(b, 1, lo, hi), h)
		}
	}
	if hasV && hasH {
		if d.Random {
			Add(gs, vh)
		}
		AddTwiceMul(gw, vh, mean)
	}
}

// gradProduct writes leftᵀ·right of one block to a tile of a gradient, or adds it.
func (d *Dense[T]) gradProduct(dst []T, add bool, rows, width int, left, right []T) {
	var start []T
	if add {
		start = dst
	}
	if d.single() {
		Mul(dst, d.In, start, d.In, right, 0, 1, 1, Right[T]{rows, d.In, left})
	} else {
		MulPanels(dst, d.Out, start, d.Out, left, width, Right[T]{rows, d.Out, right})
	}
}

// left is operand i (m, v) of a block, the panels that hold columns lo … hi.
func (d *Dense[T]) left(b TapeBlock[T], i, lo, hi int) []T {
	w := b.Rows * d.leftWidth()
	end := w
	if hi < d.In {
		end = hi * b.Rows
	}
	return b.Tape[i*w:][lo*b.Rows : end]
}

// right is operand i (g, h) of a block.
func (d *Dense[T]) right(b TapeBlock[T], i int) []T {
	w := b.Rows * d.rightWidth()
	return b.Tape[2*b.Rows*d.leftWidth()+i*w:][:w]
}

// BiasGradient sums the output gradients of all blocks into gb and, if it is not
// nil, gs.
func (d *Dense[T]) BiasGradient(blocks []TapeBlock[T], hasH bool, gb, gs []T) {
	clear(gb)
	clear(gs)
	for _, b := range blocks {
		if d.apart {
			_, _, _, g, _, e, _ := d.operandsApart(b)
			d.addRows(gb, b.Rows, g)
			if gs != nil {
				d.addRows(gs, b.Rows, e)
			}
			continue
		}
		d.addRows(gb, b.Rows, d.right(b, 0))
		if hasH && gs != nil {
			d.addRows(gs, b.Rows, d.right(b, 1))
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
