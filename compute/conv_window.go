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

// A stretch is n values that follow each other in an image and in its laid form;
// src < 0 stands for zeros.
type stretch struct{ src, n int }

// callWork is how many multiply-adds a product must have to be worth its call.
const callWork = 8192

// lay decides how an image is laid out for products with out columns: it returns
// the window over the laid image, which never leaves it, and the stretches that
// make it up. Rows of the laid image that a kernel row covers are contiguous, so a
// padded image needs no copies of its patches. Only where products would be too
// small to be worth their calls is every place given its own patch: a window of
// one cell with KH·KW·C channels.
func (w Window) lay(out int) (Window, []stretch) {
	var all []stretch
	add := func(src, n int) {
		if n == 0 {
			return
		}
		if k := len(all) - 1; k >= 0 {
			last := &all[k]
			if src < 0 && last.src < 0 || src >= 0 && last.src >= 0 && last.src+last.n == src {
				last.n += n
				return
			}
		}
		all = append(all, stretch{src, n})
	}
	line := func(y, x, n int) { // n cells of image row y from column x on
		if y < 0 || y >= w.H {
			add(-1, n*w.C)
			return
		}
		before := min(n, max(0, -x))
		after := min(n-before, max(0, x+n-w.W))
		add(-1, before*w.C)
		add((y*w.W+x+before)*w.C, (n-before-after)*w.C)
		add(-1, after*w.C)
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
		return Window{H: 1, W: places, C: w.KH * w.KW * w.C, KH: 1, KW: 1, Stride: 1, OH: 1, OW: places}, all
	}
	l := w
	l.Top, l.Left = 0, 0
	l.H, l.W = (w.OH-1)*w.Stride+w.KH, (w.OW-1)*w.Stride+w.KW
	for y := range l.H {
		line(y-w.Top, -w.Left, l.W)
	}
	return l, all
}

// layOut writes the laid form of an image to dst.
func layOut[T Float](layout []stretch, dst, image []T) {
	for _, r := range layout {
		d := dst[:r.n]
		dst = dst[r.n:]
		switch {
		case r.src < 0:
			clear(d)
		case r.n < 8: // too short for a call of copy
			s := image[r.src:][:len(d)]
			for i := range d {
				d[i] = s[i]
			}
		default:
			copy(d, image[r.src:])
		}
	}
}

// layBack is the reverse of layOut: every value of the image becomes the sum of
// its places in the laid form.
func layBack[T Float](layout []stretch, image, laid []T) {
	clear(image)
	for _, r := range layout {
		if r.src >= 0 {
			Add(image[r.src:][:r.n], laid[:r.n])
		}
		laid = laid[r.n:]
	}
}
