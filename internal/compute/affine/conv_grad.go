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
	if c.win.Stride == 1 {
		return c.win.OH
	}
	return 1
}

// spanPlaces is the length of the sum over a span.
func (c *Conv[T]) spanPlaces() int { return (c.span()-1)*c.win.W + c.win.OW }

// rightWidth is the length of g or h on the tape.
func (c *Conv[T]) rightWidth() int {
	return c.win.OH / c.span() * product.RightLen(c.spanPlaces(), c.Out)
}

// TapeWidth is the number of values the tape holds per image.
func (c *Conv[T]) TapeWidth() int {
	if c.apart {
		return c.tapeApart()
	}
	return 3*c.Laid() + 2*c.rightWidth()
}

// recorded is g or h of the span from row oy on.
func (c *Conv[T]) recorded(tape []T, right, oy int) product.Right[T] {
	return c.places(tape[3*c.Laid()+right*c.rightWidth():], oy)
}

// Record packs the gradients of an image's outputs onto its tape.
func (c *Conv[T]) Record(tape, g, h []T) {
	for i, src := range [2][]T{g, h} {
		if src != nil {
			c.packPlaces(tape[3*c.Laid()+i*c.rightWidth():], src)
		}
	}
}

// gradRows is how many weight rows one gradient tile owns.
const gradRows = 8 * product.MR

func (c *Conv[T]) rowTiles() int { return (c.win.KW*c.win.C + gradRows - 1) / gradRows }

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
	width := c.win.KW * c.win.C
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

// gather adds leftᵀ·right over all places of all images to rows from lo on of
// kernel row ky of a gradient: left 0, 1, 2 is m, m², v; right 0, 1 is g, h.
func (c *Conv[T]) gather(dst []T, ky, lo, rows int, blocks []TapeBlock[T], left, right int) {
	g := &c.win
	for _, b := range blocks {
		for i := range b.Rows {
			tape := b.Tape[i*c.TapeWidth():]
			laid := tape[left*c.Laid():][:c.Laid()]
			for oy := 0; oy < g.OH; oy += c.span() {
				a := laid[(oy*g.Stride+ky)*g.W*g.C+lo:]
				product.Mul(product.Onto(dst, c.Out), product.Strided(a, 1, g.Stride*g.C), rows, c.recorded(tape, right, oy))
			}
		}
	}
}

// biasGradient sums the output gradients of all blocks into gb and, if it is not nil, gs.
func (c *Conv[T]) biasGradient(blocks []TapeBlock[T], hasH bool, gb, gs []T) {
	one := []T{1}
	clear(gb)
	clear(gs)
	if c.apart {
		c.biasGradientApart(blocks, gb, gs)
		return
	}
	for _, b := range blocks {
		for i := range b.Rows {
			tape := b.Tape[i*c.TapeWidth():]
			for oy := 0; oy < c.win.OH; oy += c.span() {
				product.Mul(product.Onto(gb, c.Out), product.Strided(one, 0, 0), 1, c.recorded(tape, 0, oy))
				if hasH && gs != nil {
					product.Mul(product.Onto(gs, c.Out), product.Strided(one, 0, 0), 1, c.recorded(tape, 1, oy))
				}
			}
		}
	}
}
