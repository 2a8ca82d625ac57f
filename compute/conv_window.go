package compute

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

// callWork is how many multiply-adds a product must have to be worth its call.
const callWork = 8192

// lay decides how an image is laid out for products with out columns: it returns
// the window over the laid image, which never leaves it, and the layout. What a
// kernel row covers is contiguous in the padded image, so patches need not be
// copied. Only where products would be too small to be worth their calls is
// every place given its own patch: a window of one cell with KH·KW·C channels.
func (w Window) lay(out int) (Window, layout) {
	var l layout
	line := func(y, x, n int) { // n cells of image row y from column x on
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
	small := w.OW*w.KW*w.C*RightLen(1, out) < callWork
	if w.KH*w.KW == 1 || small && w.OH > 1 {
		for oy := range w.OH {
			for ox := range w.OW {
				for ky := range w.KH {
					line(oy*w.Stride+ky-w.Top, ox*w.Stride-w.Left, w.KW)
				}
			}
		}
		places := w.OH * w.OW
		return Window{H: 1, W: places, C: w.KH * w.KW * w.C, KH: 1, KW: 1, Stride: 1, OH: 1, OW: places}, l.shorten()
	}
	to := w
	to.Top, to.Left = 0, 0
	to.H, to.W = (w.OH-1)*w.Stride+w.KH, (w.OW-1)*w.Stride+w.KW
	for y := range to.H {
		line(y-w.Top, -w.Left, to.W)
	}
	return to, l.shorten()
}
