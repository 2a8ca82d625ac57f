package affine

import "utvi/internal/compute/product"

// A Window is a kernel of KH × KW cells that walks over an image of H × W × C
// (channels last) to OH × OW places, Stride apart. At the first place its first
// cell lies Top above and Left of the image; cells outside the image are zero.
type Window struct {
	H, W, C   int
	KH, KW    int
	Stride    int
	Top, Left int
	OH, OW    int
}

// An image is laid out in one of two ways, such that the window never leaves it.
// Padded, what a kernel row covers is contiguous, so patches need not be copied.
// Only where a product for one row of places would be too small is every place
// given a patch of its own: a window of one cell with KH·KW·C channels.
const (
	rowPlaces = 8       // the least places in a row
	rowWork   = 1 << 14 // the least multiply-adds
)

// small reports whether patches are better for products with out columns.
func (w Window) small(out int) bool {
	return w.KH*w.KW == 1 || w.OH > 1 && (w.OW < rowPlaces || w.OW*w.KW*w.C*product.RightLen(1, out) < rowWork)
}

// padded returns the window over the padded image, and the layout of that.
func (w Window) padded() (Window, layout) {
	var l layout
	to := w
	to.Top, to.Left = 0, 0
	to.H, to.W = (w.OH-1)*w.Stride+w.KH, (w.OW-1)*w.Stride+w.KW
	for y := range to.H {
		w.line(&l, y-w.Top, -w.Left, to.W)
	}
	return to, l.shorten()
}

// patches returns the window over the patches, and the layout of these.
func (w Window) patches() (Window, layout) {
	var l layout
	for oy := range w.OH {
		for ox := range w.OW {
			for ky := range w.KH {
				w.line(&l, oy*w.Stride+ky-w.Top, ox*w.Stride-w.Left, w.KW)
			}
		}
	}
	places := w.OH * w.OW
	return Window{H: 1, W: places, C: w.KH * w.KW * w.C, KH: 1, KW: 1, Stride: 1, OH: 1, OW: places}, l.shorten()
}

// line adds n cells of image row y, from column x on.
func (w Window) line(l *layout, y, x, n int) {
	if y < 0 || y >= w.H {
		l.add(-1, n*w.C)
		return
	}
	before := min(n, max(0, -x))
	after := min(n-before, max(0, x+n-w.W))
	l.add(-1, before*w.C)
	l.add((y*w.W+x+before)*w.C, (n-before-after)*w.C)
	l.add(-1, after*w.C)
}
