package affine

import (
	"utvi/internal/compute"
	"utvi/internal/compute/kernel"
	"utvi/internal/compute/product"
)

// A Conv apart serves networks that carry correlations, as a Dense apart does. What its
// weights add is shared by all places of an image: with a the sensitivities of a
// quantity to the outputs, by place p and filter o, x the windows of the image,
//
//	q = Σ_p m_p ⊗ a_p              what the quantity sees of each weight
//	variance added: Σ s∘q² + Σ_p j_p·a_p² + Σ_o b_s (Σ_p a_p)²,   j = v·s
//
// and products of two quantities for their covariance. Sensitivities go back by the
// mean weights, transposed.

// NewConvApart is NewConv for a network that carries correlations.
func NewConvApart[T compute.Float](w Window, out int, random bool) *Conv[T] {
	return NewConv[T](w, out, random, true).setApart()
}

func (c *Conv[T]) setApart() *Conv[T] {
	c.apart = true
	c.s = make([]T, c.Weights())
	return c
}

// Kept is the length of what ForwardApart leaves on the tape.
func (c *Conv[T]) Kept() int {
	seen, _ := c.partWidths()
	return 3 * seen
}

// Biases is the number of biases.
func (c *Conv[T]) Biases() int { return len(c.biasMean) }

// Weights is the number of weights.
func (c *Conv[T]) Weights() int { return c.win.KH * c.rowWeights() * c.Out }

// Follow sets how many quantities are followed back, and whether through the inputs.
func (c *Conv[T]) Follow(n int, inputs bool) { c.follow, c.through = n, inputs }

// ForwardApart is Forward that also leaves j = v·s, where v is not nil.
func (c *Conv[T]) ForwardApart(_ *ConvSense[T], tape, m, v, mo, vo, j []T) {
	c.KeepApart(tape, m, v, j)
	slide(&c.win, c.Out, mo, c.biasMean, c.seen(tape, 0), c.mean)
	if c.Random {
		slide(&c.win, c.Out, vo, c.biasVar, c.seen(tape, 1), c.vari)
	} else {
		clear(vo)
	}
	if v == nil {
		return
	}
	slide(&c.win, c.Out, vo, nil, c.seen(tape, 2), c.second)
	if c.Random {
		kernel.Add(vo, j)
	}
}

// KeepApart leaves on the tape, and in j, what ForwardApart does: the moments of the outputs may
// have been computed elsewhere, place by place.
func (c *Conv[T]) KeepApart(tape, m, v, j []T) {
	lm := c.seen(tape, 0)
	layOut(&c.layout, lm, m)
	if c.Random {
		kernel.Square(c.seen(tape, 1), lm)
	}
	if v == nil {
		return
	}
	lv := c.seen(tape, 2)
	layOut(&c.layout, lv, v)
	clear(j)
	if c.Random {
		slide(&c.win, c.Out, j, nil, lv, c.vari)
	}
}

// A ConvSense is scratch for the sensitivities of one image.
type ConvSense[T compute.Float] struct {
	scratch []T
	packed  []T
	back    []T
	sum     []T
	w, wT   []product.Right[T]
	told    []T // of SeenBack, with what it packs
	right   product.Right[T]
	wide    *Conv[T] // of SeenTogether: with the filters of all quantities
	beside  []T      // the sensitivities of these, side by side; then what they see of the weights
	sums    []T      // and of the biases
}

// NewSense returns scratch, which belongs to one goroutine.
func (c *Conv[T]) NewSense() *ConvSense[T] {
	image := c.image.H * c.image.W * c.image.C
	places := c.win.OH * c.win.OW * c.Out
	return &ConvSense[T]{
		scratch: make([]T, max(c.Scratch(), c.laid())), packed: make([]T, c.rightWidth()),
		back: make([]T, image), sum: make([]T, max(image, places)), w: c.rights(), wT: c.transposes(),
	}
}

// Seen writes q of one quantity: what it sees of each weight, and sums, of each bias.
// tape is what ForwardApart left. The sensitivities stay in kept, as the tape has them, if it is
// not nil.
func (c *Conv[T]) Seen(x *ConvSense[T], tape, a, q, sums, kept []T) {
	clear(q)
	clear(sums)
	if kept == nil {
		kept = x.packed
	}
	c.packPlaces(kept, a)
	if c.filters > product.MaxDot { // such products add place by place
		c.addPlaces(sums, kept)
	} else {
		for at := 0; at < len(a); at += len(sums) {
			kernel.AddShort(sums, a[at:][:len(sums)])
		}
	}
	for ky := range c.win.KH {
		c.outer(q[ky*c.rowWeights()*c.Out:], ky, 0, c.rowWeights(), c.seen(tape, 0), kept)
	}
}

// Shared is the covariance that the weights and biases add to two quantities.
func (c *Conv[T]) Shared(q, sums, q2, sums2 []T) (sum float64) {
	for i, s := range c.s {
		sum += float64(T(s*q[i]) * q2[i])
	}
	for o, s := range c.biasVar {
		sum += float64(T(s*sums[o]) * sums2[o])
	}
	return sum
}

// SenseBack takes sensitivities from the outputs to the image.
func (c *Conv[T]) SenseBack(x *ConvSense[T], a, in []T) {
	clear(in)
	c.transposed(x, in, a, c.meanT)
}

// transposed adds to an image the places' values times the weights.
func (c *Conv[T]) transposed(x *ConvSense[T], in, a []T, w []product.Right[T]) {
	if c.mirrors() {
		laid := x.scratch[:c.back.H*c.back.W*c.back.C]
		layOut(&c.backLayout, laid, a)
		slide(&c.back, c.win.C, in, nil, laid, w)
		return
	}
	d := x.scratch[:c.laid()]
	clear(d)
	c.spread(d, a, w)
	back := x.back[:len(in)]
	layBack(&c.layout, back, d)
	kernel.Add(in, back)
}

// SharedBack is the reverse of Shared and Seen for one quantity, with e and eb the
// gradients by its q and sums: it adds those by its sensitivities to da.
func (c *Conv[T]) SharedBack(x *ConvSense[T], tape, _, e, eb, da []T) {
	c.packWeights(x.w, nil, e)
	slide(&c.win, c.Out, da, nil, c.seen(tape, 0), x.w)
	for at := 0; at < len(da); at += len(eb) {
		kernel.AddShort(da[at:][:len(eb)], eb)
	}
}

// MeansBack adds to dm the gradients by the image's means that come from e, those by what a
// quantity of sensitivities a sees of the weights.
func (c *Conv[T]) MeansBack(x *ConvSense[T], a, e, dm []T) {
	c.packWeights(nil, x.wT, e)
	c.transposed(x, dm, a, x.wT)
}

// SeenBack is the reverse of Shared for all quantities of an image, with h the gradients by their
// covariances, a row for each. Their q and sums, which follow each other, become the gradients by
// them; those by the variances go to spread, the weights' and then the biases'.
func (c *Conv[T]) SeenBack(x *ConvSense[T], h, q, spread []T) {
	n := len(spread)
	k := len(q) / n
	if len(x.told) < len(q) {
		x.told = make([]T, len(q))
		x.right = product.NewRight[T](k, n)
	}
	t := x.told[:len(q)]
	clear(spread)
	if k == 1 {
		for i, q := range q {
			t[i] = h[0] * q
		}
		kernel.MulAdd(spread, t, q)
		weighed(q[:c.Weights()], 2*h[0], c.s)
		weighed(q[c.Weights():], 2*h[0], c.biasVar)
		return
	}
	x.right.PackRows(0, k, q, n, 1)
	product.Mul(product.To(t, n), product.Rows(h, k), k, x.right)
	for at := 0; at < len(q); at += n {
		own := t[at:][:n]
		kernel.MulAdd(spread, own, q[at:][:n])
		kernel.TwiceMulTo(q[at:][:c.Weights()], own, c.s)
		kernel.TwiceMulTo(q[at+c.Weights():][:len(c.biasVar)], own[c.Weights():], c.biasVar)
	}
}

// weighed multiplies x by w and s.
func weighed[T compute.Float](x []T, w T, s []T) {
	for i := range x {
		x[i] *= T(w * s[i])
	}
}

// SenseForward adds to the gradients by the sensitivities of the outputs those that
// come from the image's. It leaves the laid b on the tape, for the weights' gradients.
func (c *Conv[T]) SenseForward(_ *ConvSense[T], laid, b, out []T) {
	layOut(&c.layout, laid, b)
	slide(&c.win, c.Out, out, nil, laid, c.mean)
}

// KeepSense leaves the laid b on the tape alone.
func (c *Conv[T]) KeepSense(laid, b []T) { layOut(&c.layout, laid, b) }

// InjectedBack adds to the gradients by the image's variances those that come from d, the
// gradients by j.
func (c *Conv[T]) InjectedBack(x *ConvSense[T], d, dv []T) {
	if c.Random {
		c.transposed(x, dv, d, c.variT)
	}
}

// BackwardApart is Backward with d, the gradients by j.
func (c *Conv[T]) BackwardApart(x *ConvSense[T], tape, m, g, h, d, dm, dv []T) {
	c.Backward(tape, m, g, h, dm, dv, x.scratch)
	if dv == nil || !c.Random {
		return
	}
	// Backward has dv = h·(w̄²)ᵀ: what the weights make of v is apart.
	e := x.sum[:len(h)]
	for i := range e {
		e[i] = h[i] + d[i]
	}
	c.transposed(x, dv, e, c.variT)
}

func (c *Conv[T]) packWeights(r, t []product.Right[T], w []T) {
	for tile := range c.PrepareTiles() {
		i, panel, lo, hi := c.tile(tile)
		if lo < hi {
			from := (i/c.strides*c.rowWeights() + lo) * c.Out
			c.pack(r, t, i, panel, lo, hi, w[from:][:(hi-lo)*c.Out])
		}
	}
}

// tile is the stretch, the panel and the weight rows of a tile of Prepare.
func (c *Conv[T]) tile(tile int) (i, panel, lo, hi int) {
	panel, i = tile%c.panels(), tile/c.panels()
	lo, hi = c.stride(i % c.strides)
	lo += panel * product.NR
	return i, panel, lo, min(hi, lo+product.NR)
}
