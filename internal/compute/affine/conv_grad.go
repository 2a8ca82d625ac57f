package affine

import (
	"utvi/internal/compute/kernel"
	"utvi/internal/compute/product"
)

// The tape of an image holds its laid m, m² and v, then g and then h, packed as
// right operands of the weight gradients. These sum over places, which lie at
// even distances within a row. With stride 1 all places of an image do, if each
// row of them is followed by zeros as far as the next one begins.

// span is how many rows of places one product of the gradients takes.
func (c *Conv[T]) span() int {
	if c.win.dense() {
		return c.win.OH
	}
	return 1
}

// spanPlaces is the length of the sum over a span.
func (c *Conv[T]) spanPlaces() int { return (c.span()-1)*c.win.W + c.win.OW }

// rightWidth is the length of g or h on the tape.
func (c *Conv[T]) rightWidth() int {
	return c.win.Groups * c.groupWidth()
}

// groupWidth is the part of it that a group has.
func (c *Conv[T]) groupWidth() int {
	return c.win.OH / c.span() * product.RightLen(c.spanPlaces(), c.filters)
}

// TapeWidth is the number of values the tape holds per image.
func (c *Conv[T]) TapeWidth() int {
	seen, told := c.partWidths()
	n := 3*seen + 2*told
	if c.apart {
		n += told + c.follow*c.followWidth() + c.Weights() + len(c.biasMean)
	}
	if c.flipped {
		n += 2 * c.image.C
	}
	return n
}

// partWidths are the lengths of the parts of the tape of an image: of m, m² and v, which are
// laid, and of g, h and perhaps others, which are packed.
func (c *Conv[T]) partWidths() (seen, told int) {
	if c.flipped {
		return c.rightWidth(), c.laid()
	}
	return c.laid(), c.rightWidth()
}

// seen is m, m² or v on the tape of an image.
func (c *Conv[T]) seen(tape []T, i int) []T {
	n, _ := c.partWidths()
	return tape[i*n:][:n]
}

// told is g, h or d on the tape of an image.
func (c *Conv[T]) told(tape []T, i int) []T {
	seen, n := c.partWidths()
	return tape[3*seen+i*n:][:n]
}

// Record packs the gradients of an image's outputs onto its tape.
func (c *Conv[T]) Record(tape, g, h []T) {
	for i, src := range [2][]T{g, h} {
		if src != nil {
			c.packPlaces(c.told(tape, i), src)
		}
	}
}

// gradRows is how many weight rows one gradient tile owns.
const gradRows = 8 * product.MR

func (c *Conv[T]) rowTiles() int { return (c.rowWeights() + gradRows - 1) / gradRows }

// GradTiles is the number of tiles of Gradient.
func (c *Conv[T]) GradTiles() int { return c.win.KH * c.rowTiles() }

// GradScratch is the length of the scratch Gradient needs: none, unlike Dense.
func (c *Conv[T]) GradScratch(int) int { return 0 }

// Gradient computes a tile of the gradients, summing the images of the blocks in order;
// the first tile has the biases. hasV says that the inputs had variance, hasH that the
// outputs did. mean are the weights' means.
func (c *Conv[T]) Gradient(tile int, blocks []TapeBlock[T], hasV, hasH bool, mean []T, o Gradients[T], _ []T) {
	if tile == 0 && o.BiasMean != nil {
		c.biasGradient(blocks, hasH, o.BiasMean, o.BiasVar)
	}
	gw, gs := o.Mean, o.Var
	width := c.rowWeights()
	ky, lo := tile/c.rowTiles(), tile%c.rowTiles()*gradRows
	rows := min(gradRows, width-lo)
	if c.apart {
		c.gradientApart(ky, lo, rows, blocks, hasV, mean, gw, gs)
		return
	}
	from, n := (ky*width+lo)*c.Out, rows*c.Out
	gw, mean = gw[from:][:n], mean[from:][:n]
	clear(gw)
	if hasV && hasH {
		c.gather(gw, ky, lo, rows, blocks, 2, 1)
	}
	if c.Random {
		gs = gs[from:][:n]
		copy(gs, gw)
	}
	kernel.TwiceMul(gw, mean)
	c.gather(gw, ky, lo, rows, blocks, 0, 0)
	if c.Random && hasH {
		c.gather(gs, ky, lo, rows, blocks, 1, 1)
	}
}

// gather adds seenᵀ·told over all places of all images to rows from lo on of
// kernel row ky of a gradient: seen 0, 1, 2 is m, m², v; told 0, 1 is g, h.
func (c *Conv[T]) gather(dst []T, ky, lo, rows int, blocks []TapeBlock[T], seen, told int) {
	for _, b := range blocks {
		for i := range b.Rows {
			tape := b.Tape[i*c.TapeWidth():]
			c.pairs(dst, ky, lo, rows, c.seen(tape, seen), c.told(tape, told))
		}
	}
}

// pairs is outer of parts of the tape.
func (c *Conv[T]) pairs(dst []T, ky, lo, rows int, seen, told []T) {
	if c.flipped {
		seen, told = told, seen
	}
	c.outer(dst, ky, lo, rows, seen, told)
}

// outer adds to rows weight rows from lo on of kernel row ky the sum over places of a
// laid image's windows times packed values.
func (c *Conv[T]) outer(dst []T, ky, lo, rows int, laid, packed []T) {
	w := &c.win
	channels := w.channels()
	for g := range w.Groups {
		own := laid[g*w.H*w.W*channels:]
		for oy := 0; oy < w.OH; oy += c.span() {
			a := own[(oy*w.Down+ky)*w.W*channels+lo:]
			product.Mul(product.Onto(dst[g*c.filters:], c.Out), product.Strided(a, 1, w.Across*channels), rows, c.places(packed, g, oy))
		}
	}
}

// addPlaces adds packed values, summed over the places, to those of each filter.
func (c *Conv[T]) addPlaces(dst, packed []T) {
	one := []T{1}
	for g := range c.win.Groups {
		for oy := 0; oy < c.win.OH; oy += c.span() {
			product.Mul(product.Onto(dst[g*c.filters:], c.Out), product.Strided(one, 0, 0), 1, c.places(packed, g, oy))
		}
	}
}

// addBias adds g or h of an image, summed over the places, to those of each bias.
func (c *Conv[T]) addBias(dst, tape []T, told int) {
	if c.flipped {
		kernel.Add(dst, c.sums(tape, told))
		return
	}
	c.addPlaces(dst, c.told(tape, told))
}

// packPlaces packs values of all places as right operands of sums over them.
func (c *Conv[T]) packPlaces(dst, src []T) {
	w := &c.win
	for g := range w.Groups {
		for oy := range w.OH {
			r := c.places(dst, g, oy)
			lo := oy % c.span() * w.W
			r.PackRows(lo, lo+w.OW, src[oy*w.OW*c.Out+g*c.filters:], c.Out, 1)
			r.ClearRows(lo+w.OW, min(r.K, lo+w.W))
		}
	}
}

// places is the span from row oy on of packed places of group g.
func (c *Conv[T]) places(packed []T, g, oy int) product.Right[T] {
	k := c.spanPlaces()
	n := product.RightLen(k, c.filters)
	return product.Right[T]{K: k, N: c.filters, Data: packed[g*c.groupWidth()+oy/c.span()*n:][:n]}
}

// biasGradient sums the output gradients of all blocks into gb and, if it is not nil, gs.
func (c *Conv[T]) biasGradient(blocks []TapeBlock[T], hasH bool, gb, gs []T) {
	clear(gb)
	clear(gs)
	if c.apart {
		c.biasGradientApart(blocks, gb, gs)
		return
	}
	for _, b := range blocks {
		for i := range b.Rows {
			tape := b.Tape[i*c.TapeWidth():]
			c.addBias(gb, tape, 0)
			if hasH && gs != nil {
				c.addBias(gs, tape, 1)
			}
		}
	}
}
