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
	return Window{H: w.OH, W: w.OW, C: out, KH: w.KH, KW: w.KW, Stride: 1,
		Top: w.KH - 1 - w.Top, Left: w.KW - 1 - w.Left, OH: w.H, OW: w.W}
}

// mirrors reports whether the gradients are a convolution.
func (c *Conv[T]) mirrors() bool { return c.back.KH > 0 }

// transposes makes room for the weights of each mirrored kernel row, or of each
// kernel row and group.
func (c *Conv[T]) transposes() []product.Right[T] {
	if c.mirrors() {
		r := make([]product.Right[T], c.win.KH)
		for i := range r {
			r[i] = product.NewRight[T](c.win.KW*c.Out, c.win.C)
		}
		return r
	}
	r := make([]product.Right[T], c.win.KH*c.groups)
	for i := range r {
		lo, hi := c.group(i % c.groups)
		r[i] = product.NewRight[T](c.Out, hi-lo)
	}
	return r
}

// packBack packs n rows of weights, the panel-th of group i, transposed.
func (c *Conv[T]) packBack(t []product.Right[T], i, panel, n int, src []T) {
	if !c.mirrors() {
		t[i].PackPanel(panel, src, c.Out)
		return
	}
	r := t[c.win.KH-1-i/c.win.KW]
	at := (panel*r.K + (c.win.KW-1-i%c.win.KW)*c.Out) * product.NR
	product.Right[T]{K: c.Out, N: n, Data: r.Data[at:][:c.Out*product.NR]}.PackPanel(0, src, c.Out)
}

// BackScratch is the length of the scratch Backward needs.
func (c *Conv[T]) BackScratch() int { return max(c.Laid(), c.back.H*c.back.W*c.back.C) }

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
		layOut(c.backLayout, laid, h)
		if c.Random {
			slide(w, in, dm, nil, laid, c.variT)
			kernel.TwiceMul(dm, m)
		}
		if dv != nil {
			clear(dv)
			slide(w, in, dv, nil, laid, c.secondT)
		}
	}
	layOut(c.backLayout, laid, g)
	slide(w, in, dm, nil, laid, c.meanT)
}

func (c *Conv[T]) spreadBack(tape, g, h, dm, dv, scratch []T) {
	d := scratch[:c.Laid()]
	clear(d)
	if h != nil && c.Random {
		c.spread(d, h, c.variT)
		kernel.TwiceMul(d, tape[:len(d)])
	}
	c.spread(d, g, c.meanT)
	layBack(c.layout, dm, d)
	if dv != nil {
		clear(d)
		c.spread(d, h, c.secondT)
		layBack(c.layout, dv, d)
	}
}

// spread adds to the laid image the outputs' gradients times the weights.
func (c *Conv[T]) spread(laid, grad []T, w []product.Right[T]) {
	g := &c.win
	ld := g.Stride * g.C
	for oy := range g.OH {
		row := grad[oy*g.OW*c.Out:]
		for i, t := range w {
			ky, kx := i/c.groups, i%c.groups*g.Stride
			d := laid[((oy*g.Stride+ky)*g.W+kx)*g.C:]
			product.Mul(product.Onto(d, ld), product.Rows(row, c.Out), g.OW, t)
		}
	}
}
