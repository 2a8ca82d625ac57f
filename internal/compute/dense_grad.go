package compute

import "math"

// The tape of a block of rows holds the operands of the weight gradients, packed:
// m and v in panels of MR columns, then g and h in panels of NR columns. With one
// output mᵀg is gᵀm: m and v are then in panels of NR columns, and g and h as they
// are, instead of one column in NR.

func (d *Dense[T]) single() bool { return d.Out == 1 && d.In >= NR }

// A gradTile is the part of the weight gradients that one task owns: weight rows lo … hi,
// outputs from … to.
type gradTile struct{ lo, hi, from, to int }

// shareGradients sets how many weight rows and outputs a gradient tile has: as many as
// end first where each core takes one tile after the other. What a tile reads costs as much
// as some rows and outputs more. One core takes tiles of 96 × 512, or × 256, which stay in
// the second-level cache. The bits of a gradient do not depend on it.
func (d *Dense[T]) shareGradients(cores int) {
	d.gradRows, d.gradOutputs = d.In, 1
	if d.single() {
		return
	}
	pairs, most := ceil(d.In, 2*MR), maxGradOutputs
	if caches.L2 < 1<<20 {
		most /= 2
	}
	d.gradRows, d.gradOutputs = share(pairs, 8)*2*MR, most
	if cores == 1 {
		return
	}
	const reading = 4
	best := math.MaxInt
	for across := ceil(d.Out, most); ; across++ {
		outputs := ceil(ceil(d.Out, 2*NR), across) * 2 * NR
		if best < math.MaxInt && outputs < minGradOutputs {
			return
		}
		for p := 12; p > 0; p-- {
			rows, columns := share(pairs, p)*2*MR, min(outputs, d.Out)
			tiles := ceil(d.In, rows) * ceil(d.Out, outputs)
			if cost := ceil(tiles, cores) * (rows*columns + reading*(rows+columns)); cost < best {
				best, d.gradRows, d.gradOutputs = cost, rows, outputs
			}
		}
	}
}

const maxGradOutputs, minGradOutputs = 32 * NR, 8 * NR

// share cuts n into as few equal parts as have at most so many each, and returns the size
// of a part.
func share(n, most int) int { return ceil(n, ceil(n, most)) }

func ceil(n, by int) int { return (n + by - 1) / by }

// gradTile returns a tile of Gradient. Neighbours share their left operands.
func (d *Dense[T]) gradTile(tile int) gradTile {
	across := ceil(d.Out, d.gradOutputs)
	lo, from := tile/across*d.gradRows, tile%across*d.gradOutputs
	return gradTile{lo, min(d.In, lo+d.gradRows), from, min(d.Out, from+d.gradOutputs)}
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
func (d *Dense[T]) GradTiles() int { return ceil(d.In, d.gradRows) * ceil(d.Out, d.gradOutputs) }

// GradScratch is the length of the scratch Gradient needs for blocks of at most
// rows rows: a tile of vᵀh, and the squares of a tile's left operand in all blocks that
// one product sums.
func (d *Dense[T]) GradScratch(rows int) int {
	return d.gradRows*min(d.gradOutputs, d.Out) + min(d.leftWidth(), d.gradRows+NR)*max(rows, gradDepth)
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

// Gradients are those of all weights and biases, by their means and variances. Those of
// the variances are nil for fixed weights, those of the biases where there are none.
type Gradients[T Float] struct{ Mean, Var, BiasMean, BiasVar []T }

// Gradient computes a tile of the gradients, summing the blocks in order. hasV says that
// the inputs had variance, hasH that the outputs did, as those of random weights do. mean
// are the weights' means.
func (d *Dense[T]) Gradient(tile int, blocks []TapeBlock[T], hasV, hasH bool, mean []T, o Gradients[T], scratch []T) {
	t := d.gradTile(tile)
	at := t.lo*d.Out + t.from
	gw, gs, mean := o.Mean[at:], o.Var, mean[at:]
	if d.Random {
		gs = gs[at:]
	}
	size := (t.hi - t.lo) * (t.to - t.from)
	vh, squares := scratch[:size], scratch[size:]
	clearBias(t, o)
	if d.apart {
		d.gradientApart(blocks, t, hasV, mean, gw, gs, vh, squares, o)
		return
	}
	for add := false; len(blocks) > 0; add = true {
		b := blocks[0] // and those that one product sums
		n, apart := d.stretches(blocks)
		g, h := operand[T]{d.right(b, 0), apart}, operand[T]{d.right(b, 1), apart}
		m := operand[T]{d.left(b, 0, t), apart}
		d.gradProduct(gw, d.Out, t, add, b.Rows, n, m, g)
		if d.Random {
			d.gradProduct(gs, d.Out, t, add, b.Rows, n, m.squares(n, nil, squares), h)
		}
		if hasV && hasH {
			d.gradProduct(vh, t.to-t.from, t, add, b.Rows, n, operand[T]{d.left(b, 1, t), apart}, h)
		}
		d.addRows(o.BiasMean, t, b.Rows, n, g)
		if hasH {
			d.addRows(o.BiasVar, t, b.Rows, n, h)
		}
		blocks = blocks[n:]
	}
	if hasV && hasH {
		d.addSecond(t, d.Random, vh, mean, gw, gs)
	}
}

// clearBias begins the sums of a tile's biases.
func clearBias[T Float](t gradTile, o Gradients[T]) {
	for _, g := range [2][]T{o.BiasMean, o.BiasVar} {
		if t.lo == 0 && g != nil {
			clear(g[t.from:t.to])
		}
	}
}

// addSecond adds what a tile of vᵀh contributes to those of ∂w̄ and, if random is set, ∂s.
func (d *Dense[T]) addSecond(t gradTile, random bool, vh, mean, gw, gs []T) {
	w, rows := t.to-t.from, t.hi-t.lo
	if w == d.Out { // rows follow one another
		w, rows = w*rows, 1
	}
	for i := range rows {
		vh, at := vh[i*w:][:w], i*d.Out
		if random {
			Add(gs[at:][:w], vh)
		}
		AddTwiceMul(gw[at:][:w], vh, mean[at:][:w])
	}
}

// gradProduct writes leftᵀ·right of n blocks of rows to a tile of a gradient, or adds it.
// left has the columns of the tile, right those of all outputs.
func (d *Dense[T]) gradProduct(dst []T, ld int, t gradTile, add bool, rows, n int, left, right operand[T]) {
	var start []T
	if add {
		start = dst
	}
	if d.single() {
		Mul(dst, d.In, start, d.In, right.first, 0, 1, 1, Right[T]{rows, d.In, left.first})
		return
	}
	b := Right[T]{rows, d.Out, right.first}.columns(t.from, t.to)
	b.Data = b.Data[:cap(b.Data)] // as far as the last block
	MulStretches(dst, ld, start, ld, left.first[:cap(left.first)], left.apart, t.hi-t.lo, b, right.apart, n)
}

// left is operand i (m, v) of a block, the panels that a tile needs.
func (d *Dense[T]) left(b TapeBlock[T], i int, t gradTile) []T {
	w := b.Rows * d.leftWidth()
	return d.columns(b.Tape[i*w:][:w], b.Rows, t)
}

// columns are the panels of a left operand of n rows that hold the weight rows of a tile.
func (d *Dense[T]) columns(left []T, n int, t gradTile) []T {
	if t.hi < d.In {
		return left[t.lo*n : t.hi*n]
	}
	return left[t.lo*n:]
}

// right is operand i (g, h) of a block.
func (d *Dense[T]) right(b TapeBlock[T], i int) []T {
	w := b.Rows * d.rightWidth()
	return b.Tape[2*b.Rows*d.leftWidth()+i*w:][:w]
}

// addRows adds the rows of a right operand of n blocks to the sums of a tile's biases. Tiles of the
// first weight rows have them.
func (d *Dense[T]) addRows(dst []T, t gradTile, rows, n int, r operand[T]) {
	if t.lo > 0 || dst == nil {
		return
	}
	if d.single() {
		for _, g := range r.first {
			dst[0] += g
		}
		return
	}
	one := [1]T{1}
	dst = dst[t.from:t.to]
	for i := range n {
		Mul(dst, d.Out, dst, d.Out, one[:], 0, 0, 1, Right[T]{rows, d.Out, r.block(i)}.columns(t.from, t.to))
	}
}
