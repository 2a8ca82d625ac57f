package affine

import (
	"utvi/internal/compute"
	"utvi/internal/compute/kernel"
	"utvi/internal/compute/product"
)

// Conv is the moment product of a window of Normal weights with an image, as
// [Dense] is of a matrix with a row: the sums run over the cells and channels
// that the window covers. Weights are KH·KW·C × Out, row-major.
//
// The image is laid out with its zero padding, where the KW·C values that a
// kernel row covers are contiguous, and the next place is Across·C further. So a
// row of outputs is KH products that read the image in place, and its weight
// gradients are the same products with the image transposed by strides.
//
// With groups, C and Out above are those of a group: the laid image holds the groups one
// after the other, weights are KH·KW·C/Groups × Out, and operands are lists of those of
// each group.
type Conv[T compute.Float] struct {
	Out    int
	Random bool

	win     Window // over the laid image
	layout  layout
	strides int // stretches of Across kernel columns: the places of one do not overlap
	filters int // of a group

	back       Window // over the laid gradients of the outputs, where there is one
	backLayout layout

	mean, vari, second    []product.Right[T] // w̄, s, w̄²+s of each group and kernel row
	meanT, variT, secondT []product.Right[T] // transposes, see conv_back.go
	biasMean, biasVar     []T

	image Window // that over the image itself

	apart   bool // second is w̄²; see conv_apart.go
	s       []T  // the weights' variances, row-major
	follow  int
	through bool

	flipped bool // the core of a Transposed
}

// NewConv returns the product of a window with out filters; train makes room for
// the reverse.
func NewConv[T compute.Float](w Window, out int, random, train bool) *Conv[T] {
	laid := w.padded
	if w.small(out) {
		laid = w.patches
	}
	over, l := laid()
	return newConv[T](w, over, l, out, random, train)
}

// newConv takes the window over the image and that over its laid form.
func newConv[T compute.Float](w, over Window, l layout, out int, random, train bool) *Conv[T] {
	c := &Conv[T]{Out: out, Random: random, win: over, layout: l, filters: out / w.Groups, image: w}
	c.strides = (over.KW + over.Across - 1) / over.Across
	c.mean, c.second = c.rights(), c.rights()
	if random {
		c.vari = c.rights()
	}
	if train {
		if over.KH*over.KW > 1 && over.dense() {
			c.back, c.backLayout = w.reverse(out).padded()
		}
		c.meanT, c.secondT = c.transposes(), c.transposes()
		if random {
			c.variT = c.transposes()
		}
	}
	c.biasMean, c.biasVar = make([]T, out), make([]T, out)
	return c
}

func (c *Conv[T]) rights() []product.Right[T] {
	r := make([]product.Right[T], c.win.Groups*c.win.KH)
	for i := range r {
		r[i] = product.NewRight[T](c.rowWeights(), c.filters)
	}
	return r
}

// rowWeights is how many weights of a filter a kernel row has.
func (c *Conv[T]) rowWeights() int { return c.win.KW * c.win.channels() }

// stride returns which weight rows of a kernel row are in stretch j.
func (c *Conv[T]) stride(j int) (lo, hi int) {
	w := &c.win
	return j * w.Across * w.channels(), min(w.KW, (j+1)*w.Across) * w.channels()
}

// panels is how many tiles of Prepare a stretch takes.
func (c *Conv[T]) panels() int {
	lo, hi := c.stride(0)
	return (hi - lo + product.NR - 1) / product.NR
}

// PrepareTiles is the number of tiles of Prepare.
func (c *Conv[T]) PrepareTiles() int { return c.win.KH * c.strides * c.panels() }

// PrepareScratch is the length of the scratch Prepare needs.
func (c *Conv[T]) PrepareScratch() int { return 2 * product.NR * c.Out }

// Prepare packs tile from the weights' means and ρ (σ = softplus ρ; nil for
// fixed weights). Tiles may be prepared concurrently.
func (c *Conv[T]) Prepare(tile int, mean, rho, scratch []T) {
	i, panel, lo, hi := c.tile(tile)
	if lo >= hi {
		return // the last stretch may have fewer columns
	}
	from := (i/c.strides*c.rowWeights() + lo) * c.Out
	n := (hi - lo) * c.Out
	mean = mean[from:][:n]
	s, second := scratch[:n], scratch[product.NR*c.Out:][:n]
	kernel.Square(second, mean)
	if c.Random {
		kernel.Variance(s, rho[from:][:n])
		if c.apart {
			copy(c.s[from:], s)
		} else {
			kernel.Add(second, s)
		}
		c.pack(c.vari, c.variT, i, panel, lo, hi, s)
	}
	c.pack(c.mean, c.meanT, i, panel, lo, hi, mean)
	c.pack(c.second, c.secondT, i, panel, lo, hi, second)
}

func (c *Conv[T]) pack(r, t []product.Right[T], i, panel, lo, hi int, src []T) {
	for g := range c.win.Groups {
		own := src[g*c.filters:]
		if r != nil {
			r[g*c.win.KH+i/c.strides].PackRows(lo, hi, own, c.Out, 1)
		}
		if t != nil {
			c.packBack(t, g, i, panel, hi-lo, own)
		}
	}
}

// PrepareBias sets the bias from its means and ρ.
func (c *Conv[T]) PrepareBias(mean, rho []T) {
	copy(c.biasMean, mean)
	if rho != nil {
		kernel.Variance(c.biasVar, rho)
	}
}

// laid is the length of the laid image.
func (c *Conv[T]) laid() int { return c.win.H * c.win.W * c.win.C }

// PredictTape is the length of the tape that Forward needs in prediction.
func (c *Conv[T]) PredictTape() int { return 3 * c.laid() }

// Forward computes the moments mo, vo of one image with moments m, v. A nil v is
// a deterministic input; a nil vo is not wanted. The laid m, m² and v are left on the tape.
func (c *Conv[T]) Forward(tape, m, v, mo, vo, _ []T) {
	lm := c.seen(tape, 0)
	lsq := c.seen(tape, 1)
	lv := c.seen(tape, 2)
	layOut(&c.layout, lm, m)
	slide(&c.win, c.Out, mo, c.biasMean, lm, c.mean)
	if vo == nil {
		return
	}
	start := c.biasVar
	if c.Random {
		kernel.Square(lsq, lm)
		slide(&c.win, c.Out, vo, start, lsq, c.vari)
		start = nil
	}
	if v != nil {
		layOut(&c.layout, lv, v)
		slide(&c.win, c.Out, vo, start, lv, c.second)
	}
}

// slide computes dst = bias + laid * w, or dst += laid * w if bias is nil, with
// out filters a kernel row.
func slide[T compute.Float](w *Window, out int, dst, bias, laid []T, weights []product.Right[T]) {
	c, filters := w.channels(), out/w.Groups
	for g := range w.Groups {
		own := laid[g*w.H*w.W*c:]
		for oy := range w.OH {
			d := dst[oy*w.OW*out+g*filters:]
			start, lds := d, out
			if bias != nil {
				start, lds = bias[g*filters:], 0
			}
			for ky := range w.KH {
				left := product.Rows(own[(oy*w.Down+ky)*w.W*c:], w.Across*c)
				product.Mul(product.To(d, out).From(start, lds), left, w.OW, weights[g*w.KH+ky])
				start, lds = d, out
			}
		}
	}
}
