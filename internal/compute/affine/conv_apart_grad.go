package affine

import (
	"utvi/internal/compute"
	"utvi/internal/compute/kernel"
	"utvi/internal/compute/product"
)

// The tape of an image of a Conv apart holds, after the laid m, m² and v: g, h and d,
// the gradient by j, packed as right operands; then of every followed quantity its
// sensitivities to the outputs, packed, q and sums, and, where quantities are followed
// to the image, the laid gradients by the sensitivities to it; at last the gradients by
// the covariances of the quantities.

func (c *Conv[T]) followWidth() int {
	n := c.rightWidth() + c.Weights() + c.Out
	if c.through {
		n += c.Laid()
	}
	return n
}

func (c *Conv[T]) tapeApart() int {
	return 3*c.Laid() + 3*c.rightWidth() + c.follow*(c.followWidth()+c.follow)
}

// A FollowTape is what the tape holds of one followed quantity.
type FollowTape[T compute.Float] struct{ A, Q, Sums, B []T }

// Followed is the tape of quantity k of an image.
func (c *Conv[T]) Followed(tape []T, k int) (f FollowTape[T]) {
	t := tape[3*c.Laid()+3*c.rightWidth()+k*c.followWidth():]
	cut := func(n int) []T {
		s := t[:n:n]
		t = t[n:]
		return s
	}
	f.A = cut(c.rightWidth())
	f.Q = cut(c.Weights())
	f.Sums = cut(c.Out)
	if c.through {
		f.B = cut(c.Laid())
	}
	return f
}

// Weighed are the gradients by the covariances of the quantities, K × K.
func (c *Conv[T]) Weighed(tape []T) []T {
	return tape[3*c.Laid()+3*c.rightWidth()+c.follow*c.followWidth():][:c.follow*c.follow]
}

// RecordSense packs the sensitivities of quantity k of an image onto its tape.
func (c *Conv[T]) RecordSense(tape []T, k int, a []T) { c.packPlaces(c.Followed(tape, k).A, a) }

// RecordApart packs the gradients of an image's outputs onto its tape.
func (c *Conv[T]) RecordApart(tape, g, h, d []T) {
	for i, src := range [3][]T{g, h, d} {
		c.packPlaces(tape[3*c.Laid()+i*c.rightWidth():][:c.rightWidth()], src)
	}
}

// packPlaces packs values of all places as right operands of sums over them.
func (c *Conv[T]) packPlaces(dst, src []T) {
	w := &c.win
	for oy := range w.OH {
		r := c.places(dst, oy)
		lo := oy % c.span() * w.W
		r.PackRows(lo, lo+w.OW, src[oy*w.OW*c.Out:], c.Out, 1)
		r.ClearRows(lo+w.OW, min(r.K, lo+w.W))
	}
}

// places is the span from row oy on of packed places.
func (c *Conv[T]) places(packed []T, oy int) product.Right[T] {
	k := c.spanPlaces()
	n := product.RightLen(k, c.Out)
	return product.Right[T]{K: k, N: c.Out, Data: packed[oy/c.span()*n:][:n]}
}

// outer adds to rows weight rows from lo on of kernel row ky the sum over places of a
// laid image's windows times packed values.
func (c *Conv[T]) outer(dst []T, ky, lo, rows int, laid, packed []T) {
	g := &c.win
	at := dst[(ky*g.KW*g.C+lo)*c.Out:]
	for oy := 0; oy < g.OH; oy += c.span() {
		a := laid[(oy*g.Stride+ky)*g.W*g.C+lo:]
		product.Mul(product.Onto(at, c.Out), product.Strided(a, 1, g.Stride*g.C), rows, c.places(packed, oy))
	}
}

func (c *Conv[T]) gradientApart(ky, lo, rows int, blocks []TapeBlock[T], hasV bool, mean, gw, gs []T) {
	from, n := (ky*c.win.KW*c.win.C+lo)*c.Out, rows*c.Out
	laid, right := c.Laid(), c.rightWidth()
	own, ownMean := gw[from:][:n], mean[from:][:n]
	clear(own)
	images := func(add func(tape []T)) {
		for _, b := range blocks {
			for i := range b.Rows {
				add(b.Tape[i*c.TapeWidth():])
			}
		}
	}
	sum := func(dst []T, left, r int) {
		images(func(t []T) { c.outer(dst, ky, lo, rows, t[left*laid:][:laid], t[3*laid+r*right:][:right]) })
	}
	if hasV {
		sum(gw, 2, 1) // vᵀh
	}
	if c.Random {
		copy(gs[from:][:n], own)
	}
	kernel.TwiceMul(own, ownMean)
	sum(gw, 0, 0) // mᵀg
	if c.through {
		images(func(t []T) {
			for k := range c.follow {
				f := c.Followed(t, k)
				c.outer(gw, ky, lo, rows, f.B, f.A)
			}
		})
	}
	if !c.Random {
		return
	}
	sum(gs, 1, 1) // (m²)ᵀh
	if hasV {
		sum(gs, 2, 2) // vᵀd
	}
	images(func(t []T) {
		h := c.Weighed(t)
		for k := range c.follow {
			for l := range c.follow {
				if w := h[k*c.follow+l]; w != 0 {
					addProducts(gs[from:][:n], w, c.Followed(t, k).Q[from:], c.Followed(t, l).Q[from:])
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
	one := []T{1}
	for _, b := range blocks {
		for i := range b.Rows {
			t := b.Tape[i*c.TapeWidth():]
			for r, dst := range [2][]T{gb, gs} {
				for oy := 0; dst != nil && oy < c.win.OH; oy += c.span() {
					packed := t[3*c.Laid()+r*c.rightWidth():][:c.rightWidth()]
					product.Mul(product.Onto(dst, c.Out), product.Strided(one, 0, 0), 1, c.places(packed, oy))
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
