package affine

import (
	"utvi/internal/compute/kernel"
	"utvi/internal/compute/product"
)

// The gradients of an image are those of the outputs times the weights, summed
// over the places that cover a cell. With stride 1 that is itself a convolution:
// the mirrored kernel walks over the gradients, with inputs and outputs changed
// places. Otherwise, and with patches, the products are added to the laid image
// place by place.

// reverse is the window that walks from out gradients a place back to the image,
// for stride 1.
func (w Window) reverse(out int) Window {
	return Window{H: w.OH, W: w.OW, C: out, KH: w.KH, KW: w.KW, Down: 1, Across: 1, Rise: 1, Run: 1, Groups: w.Groups,
		Top: w.KH - 1 - w.Top, Left: w.KW - 1 - w.Left, OH: w.H, OW: w.W}
}

// mirrors reports whether the gradients are a convolution.
func (c *Conv[T]) mirrors() bool { return c.back.KH > 0 }

// transposes makes room for the weights of each group and mirrored kernel row, or of each
// group, kernel row and stretch.
func (c *Conv[T]) transposes() []product.Right[T] {
	if c.mirrors() {
		r := make([]product.Right[T], c.win.Groups*c.win.KH)
		for i := range r {
			r[i] = product.NewRight[T](c.win.KW*c.filters, c.win.channels())
		}
		return r
	}
	r := make([]product.Right[T], c.win.Groups*c.win.KH*c.strides)
	for i := range r {
		lo, hi := c.stride(i % c.strides)
		r[i] = product.NewRight[T](c.filters, hi-lo)
	}
	return r
}

// packBack packs n rows of weights of group g, the panel-th of stretch i, transposed.
func (c *Conv[T]) packBack(t []product.Right[T], g, i, panel, n int, src []T) {
	if !c.mirrors() {
		t[g*c.win.KH*c.strides+i].PackPanel(panel, src, c.Out)
		return
	}
	r := t[g*c.win.KH+c.win.KH-1-i/c.win.KW]
	at := (panel*r.K + (c.win.KW-1-i%c.win.KW)*c.filters) * product.NR
	product.Right[T]{K: c.filters, N: n, Data: r.Data[at:][:c.filters*product.NR]}.PackPanel(0, src, c.Out)
}

// Scratch is the length of the scratch Forward and Backward need.
func (c *Conv[T]) Scratch() int { return max(c.laid(), c.back.H*c.back.W*c.back.C) }

// Backward computes the gradients dm, dv of one image with means m from the
// gradients g, h of its outputs; tape is what Forward left. A nil h is the
// gradient of a deterministic output; a nil dv is not wanted.
func (c *Conv[T]) Backward(tape, m, g, h, dm, dv, scratch []T) {
	if !c.mirrors() {
		c.spreadBack(tape, g, h, dm, dv, scratch)
		return
	}
	laid := scratch[:c.back.H*c.back.W*c.back.C]
	w, in := &c.back, c.win.C
	clear(dm)
	if h != nil {
		layOut(&c.backLayout, laid, h)
		if c.Random {
			slide(w, in, dm, nil, laid, c.variT)
			kernel.TwiceMul(dm, m)
		}
		if dv != nil {
			clear(dv)
			slide(w, in, dv, nil, laid, c.secondT)
		}
	}
	layOut(&c.backLayout, laid, g)
	slide(w, in, dm, nil, laid, c.meanT)
}

func (c *Conv[T]) spreadBack(tape, g, h, dm, dv, scratch []T) {
	d := scratch[:c.laid()]
	clear(d)
	if h != nil && c.Random {
		c.spread(d, h, c.variT)
		kernel.TwiceMul(d, tape[:len(d)])
	}
	c.spread(d, g, c.meanT)
	layBack(&c.layout, dm, d)
	if dv != nil {
		clear(d)
		c.spread(d, h, c.secondT)
		layBack(&c.layout, dv, d)
	}
}

// spread adds to the laid image the outputs' gradients times the weights.
func (c *Conv[T]) spread(laid, grad []T, w []product.Right[T]) {
	win := &c.win
	channels := win.channels()
	each := win.KH * c.strides // operands of a group
	for g := range win.Groups {
		own := laid[g*win.H*win.W*channels:]
		for oy := range win.OH {
			row := grad[oy*win.OW*c.Out+g*c.filters:]
			for i, t := range w[g*each:][:each] {
				ky, kx := i/c.strides, i%c.strides*win.Across
				d := own[((oy*win.Down+ky)*win.W+kx)*channels:]
				product.Mul(product.Onto(d, win.Across*channels), product.Rows(row, c.Out), win.OW, t)
			}
		}
	}
}
