package affine

import (
	"utvi/internal/compute"
	"utvi/internal/compute/kernel"
)

// The tape of an image of a Conv apart holds, after the laid m, m² and v: g, h and d,
// the gradient by j, packed as right operands; then, where quantities are followed to the image, of
// each its sensitivities to the outputs, packed, and the laid gradients by the sensitivities to
// the image; at last the gradients by the variances of the weights and biases that come from what the
// quantities see of them.

func (c *Conv[T]) followWidth() int {
	if !c.through {
		return 0
	}
	seen, told := c.partWidths()
	return told + seen
}

// followTape is where that of the followed quantities begins.
func (c *Conv[T]) followTape(tape []T) []T {
	seen, told := c.partWidths()
	return tape[3*seen+3*told:]
}

// A FollowTape is what the tape holds of one followed quantity.
type FollowTape[T compute.Float] struct{ A, B []T }

// Followed is the tape of quantity k of an image; nothing, if it is not followed to the image.
func (c *Conv[T]) Followed(tape []T, k int) (f FollowTape[T]) {
	if !c.through {
		return f
	}
	seen, told := c.partWidths()
	t := c.followTape(tape)[k*c.followWidth():]
	f.A = t[:told:told]
	f.B = t[told:][:seen:seen]
	return f
}

// Spread are the gradients by the variances of the weights, and of the biases behind them, that
// come from what the quantities see of them.
func (c *Conv[T]) Spread(tape []T) []T {
	return c.followTape(tape)[c.follow*c.followWidth():][:c.Weights()+len(c.biasMean)]
}

// RecordApart packs the gradients of an image's outputs onto its tape.
func (c *Conv[T]) RecordApart(tape, g, h, d []T) {
	for i, src := range [3][]T{g, h, d} {
		c.packPlaces(c.told(tape, i), src)
	}
}

func (c *Conv[T]) gradientApart(ky, lo, rows int, blocks []TapeBlock[T], hasV bool, mean, gw, gs []T) {
	from, n := (ky*c.rowWeights()+lo)*c.Out, rows*c.Out
	own, ownMean := gw[from:][:n], mean[from:][:n]
	clear(own)
	images := func(add func(tape []T)) {
		for _, b := range blocks {
			for i := range b.Rows {
				add(b.Tape[i*c.TapeWidth():])
			}
		}
	}
	sum := func(dst []T, left, right int) { c.gather(dst, ky, lo, rows, blocks, left, right) }
	if hasV {
		sum(own, 2, 1) // vᵀh
	}
	if c.Random {
		copy(gs[from:][:n], own)
	}
	kernel.TwiceMul(own, ownMean)
	sum(own, 0, 0) // mᵀg
	if c.through {
		images(func(t []T) {
			for k := range c.follow {
				f := c.Followed(t, k)
				c.pairs(own, ky, lo, rows, f.B, f.A)
			}
		})
	}
	if !c.Random {
		return
	}
	spread := gs[from:][:n]
	sum(spread, 1, 1) // (m²)ᵀh
	if hasV {
		sum(spread, 2, 2) // vᵀd
	}
	images(func(t []T) { kernel.Add(spread, c.Spread(t)[from:]) })
}

func (c *Conv[T]) biasGradientApart(blocks []TapeBlock[T], gb, gs []T) {
	for _, b := range blocks {
		for i := range b.Rows {
			t := b.Tape[i*c.TapeWidth():]
			for r, dst := range [2][]T{gb, gs} {
				if dst != nil {
					c.addBias(dst, t, r)
				}
			}
			if gs != nil {
				kernel.Add(gs, c.Spread(t)[c.Weights():])
			}
		}
	}
}
