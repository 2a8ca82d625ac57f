package affine

import "utvi/internal/compute/product"

// A Window is a kernel of KH × KW cells that walks over an image of H × W × C
// (channels last) to OH × OW places, which lie Down and Across cells apart. The cells of
// the kernel lie Rise and Run cells apart: 1 unless it is dilated. At the first place its
// first cell lies Top above and Left of the image; cells outside the image are zero. The
// channels are cut into Groups: every group of filters sees its own group of channels.
type Window struct {
	H, W, C      int
	KH, KW       int
	Down, Across int
	Rise, Run    int
	Top, Left    int
	OH, OW       int
	Groups       int
}

// Reach is how many rows and columns of the image a kernel spans.
func (w Window) Reach() (down, across int) { return (w.KH-1)*w.Rise + 1, (w.KW-1)*w.Run + 1 }

// channels is the number of channels of a group.
func (w Window) channels() int { return w.C / w.Groups }

// dense reports whether every cell of an image is the first of a window's place.
func (w Window) dense() bool { return w.Down == 1 && w.Across == 1 }

// dilated reports whether the cells of the kernel lie apart.
func (w Window) dilated() bool { return w.Rise > 1 || w.Run > 1 }

// An image is laid out in one of two ways, such that the window never leaves it.
// Padded, what a kernel row covers is contiguous, so patches need not be copied.
// Only where a product for one row of places would be too small, or where the kernel is
// dilated, is every place given a patch of its own: a window of one cell with KH·KW·C
// channels. Either way groups lie one after the other.
const (
	rowPlaces = 8       // the least places in a row
	rowWork   = 1 << 14 // the least multiply-adds
)

// small reports whether patches are better for products with out columns, those of all
// groups.
func (w Window) small(out int) bool {
	columns := product.RightLen(1, out/w.Groups)
	least := rowWork
	if w.Groups > 1 { // patches of groups are many, and leave the caches
		least /= 2
	}
	return w.KH*w.KW == 1 || w.dilated() || w.OH > 1 && (w.OW < rowPlaces || w.OW*w.KW*w.channels()*columns < least)
}

// padded returns the window over the padded image, and the layout of that.
func (w Window) padded() (Window, layout) {
	l := w.newLayout()
	to := w
	to.Top, to.Left = 0, 0
	to.H, to.W = (w.OH-1)*w.Down+w.KH, (w.OW-1)*w.Across+w.KW
	for y := range to.H {
		w.line(&l, y-w.Top, -w.Left, to.W)
	}
	return to, l.shorten()
}

func (w Window) newLayout() layout { return layout{groups: w.Groups, channels: w.channels()} }

// patches returns the window over the patches, and the layout of these.
func (w Window) patches() (Window, layout) {
	l := w.newLayout()
	for oy := range w.OH {
		for ox := range w.OW {
			w.patch(&l, oy*w.Down-w.Top, ox*w.Across-w.Left)
		}
	}
	places := w.OH * w.OW
	return Window{H: 1, W: places, C: w.KH * w.KW * w.C, KH: 1, KW: 1, Down: 1, Across: 1, Rise: 1, Run: 1, OH: 1, OW: places, Groups: w.Groups}, l.shorten()
}

// patch adds the cells that the kernel sees with its first cell at row y, column x.
func (w Window) patch(l *layout, y, x int) {
	for ky := range w.KH {
		if w.Run == 1 {
			w.line(l, y+ky*w.Rise, x, w.KW)
			continue
		}
		for kx := range w.KW {
			w.line(l, y+ky*w.Rise, x+kx*w.Run, 1)
		}
	}
}

// line adds n cells of image row y, from column x on: their channels of the first group.
func (w Window) line(l *layout, y, x, n int) {
	c := w.channels()
	if y < 0 || y >= w.H {
		l.add(-1, n*c)
		return
	}
	before := min(n, max(0, -x))
	after := min(n-before, max(0, x+n-w.W))
	l.add(-1, before*c)
	for i := range n - before - after {
		l.add((y*w.W+x+before+i)*w.C, c)
	}
	l.add(-1, after*c)
}
