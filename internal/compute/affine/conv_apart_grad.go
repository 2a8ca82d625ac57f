package affine

import (
	"utvi/internal/compute"
	"utvi/internal/compute/kernel"
)

// The tape of an image of a Conv apart holds, after the laid m, m² and v: g, h and d,
// the gradient by j, packed as right operands; then of every followed quantity its
// sensitivities to the outputs, packed, q and sums, and, where quantities are followed
// to the image, the laid gradients by the sensitivities to it; at last the gradients by
// the covariances of the quantities.

func (c *Conv[T]) followWidth() int {
	seen, told := c.partWidths()
	n := told + c.Weights() + len(c.biasMean)
	if c.through {
		n += seen
	}
	return n
}

// followTape is where that of the followed quantities begins.
func (c *Conv[T]) followTape(tape []T) []T {
	seen, told := c.partWidths()
	return tape[3*seen+3*told:]
}

// A FollowTape is what the tape holds of one followed quantity.
type FollowTape[T compute.Float] struct{ A, Q, Sums, B []T }

// Followed is the tape of quantity k of an image.
func (c *Conv[T]) Followed(tape []T, k int) (f FollowTape[T]) {
	seen, told := c.partWidths()
	t := c.followTape(tape)[k*c.followWidth():]
	cut := func(n int) []T {
		s := t[:n:n]
		t = t[n:]
		return s
	}
	f.A = cut(told)
	f.Q = cut(c.Weights())
	f.Sums = cut(len(c.biasMean))
	if c.through {
		f.B = cut(seen)
	}
	return f
}

// Weighed are the gradients by the covariances of the quantities, K × K.
func (c *Conv[T]) Weighed(tape []T) []T {
	return c.followTape(tape)[c.follow*c.followWidth():][:c.follow*c.follow]
}

// RecordSense packs the sensitivities of quantity k of an image onto its tape.
func (c *Conv[T]) RecordSense(tape []T, k int, a []T) { c.packPlaces(c.Followed(tape, k).A, a) }

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
	images(func(t []T) {
		h := c.Weighed(t)
		for k := range c.follow {
			for l := range c.follow {
				if w := h[k*c.follow+l]; w != 0 {
					addProducts(spread, w, c.Followed(t, k).Q[from:], c.Followed(t, l).Q[from:])
				}
			}
		}
	})
}

// addProducts adds w·x∘y.
func addProducts[T compute.Float](dst []T, w T, x, y []T) {
	for i := range dst {
		dst[i] += T(w*x[i]) * y[i]
	}
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
			h := c.Weighed(t)
			for k := range c.follow {
				for l := range c.follow {
					if w := h[k*c.follow+l]; gs != nil && w != 0 {
						addProducts(gs, w, c.Followed(t, k).Sums, c.Followed(t, l).Sums)
					}
				}
			}
		}
	}
}
