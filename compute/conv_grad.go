package compute

// The tape of an image holds its laid m, m² and v, then for each row of places
// g, packed as a right operand, then h likewise.

func (c *Conv[T]) rightWidth() int { return RightLen(c.win.OW, c.Out) }

// TapeWidth is the number of values the tape holds per image.
func (c *Conv[T]) TapeWidth() int { return 3*c.Laid() + 2*c.win.OH*c.rightWidth() }

// Record packs the gradients of an image's outputs onto its tape.
func (c *Conv[T]) Record(tape, g, h []T) {
	tape = tape[3*c.Laid():]
	n := c.rightWidth()
	for _, src := range [2][]T{g, h} {
		for oy := range c.win.OH {
			if src != nil {
				Right[T]{c.win.OW, c.Out, tape[oy*n:][:n]}.Pack(src[oy*c.win.OW*c.Out:], c.Out, 1)
			}
		}
		tape = tape[c.win.OH*n:]
	}
}

// gradRows is how many weight rows one gradient tile owns.
const gradRows = 8 * MR

func (c *Conv[T]) rowTiles() int { return (c.win.KW*c.win.C + gradRows - 1) / gradRows }

// GradTiles is the number of tiles of Gradient.
func (c *Conv[T]) GradTiles() int { return c.win.KH * c.rowTiles() }

// Gradient computes tile's rows of ∂w̄ into gw and of ∂s into gs, summing the
// images of the blocks in order. hasV says that the inputs had variance, hasH
// that the outputs did. mean are the weights' means.
func (c *Conv[T]) Gradient(tile int, blocks []TapeBlock[T], hasV, hasH bool, mean, gw, gs []T) {
	width := c.win.KW * c.win.C
	ky, lo := tile/c.rowTiles(), tile%c.rowTiles()*gradRows
	rows := min(gradRows, width-lo)
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
	TwiceMul(gw, mean)
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
			for oy := range g.OH {
				a := laid[(oy*g.Stride+ky)*g.W*g.C+lo:]
				Mul(dst, c.Out, dst, c.Out, a, 1, g.Stride*g.C, rows, c.recorded(tape, right, oy))
			}
		}
	}
}

// recorded is row oy of g or h on the tape.
func (c *Conv[T]) recorded(tape []T, right, oy int) Right[T] {
	n := c.rightWidth()
	return Right[T]{c.win.OW, c.Out, tape[3*c.Laid()+(right*c.win.OH+oy)*n:][:n]}
}

// BiasGradient sums the output gradients of all blocks into gb and, if it is not
// nil, gs.
func (c *Conv[T]) BiasGradient(blocks []TapeBlock[T], hasH bool, gb, gs []T) {
	one := []T{1}
	clear(gb)
	clear(gs)
	for _, b := range blocks {
		for i := range b.Rows {
			tape := b.Tape[i*c.TapeWidth():]
			for oy := range c.win.OH {
				Mul(gb, c.Out, gb, c.Out, one, 0, 0, 1, c.recorded(tape, 0, oy))
				if hasH && gs != nil {
					Mul(gs, c.Out, gs, c.Out, one, 0, 0, 1, c.recorded(tape, 1, oy))
				}
			}
		}
	}
}
