package affine

import (
	"utvi/internal/compute"
	"utvi/internal/compute/kernel"
)

// A layout says of what values of an image its laid form consists, in order:
// stretches or, where these are short, one index a value. They are those of the first
// group of channels; the others follow, each so many channels further in the image.
type layout struct {
	stretches        []stretch
	index            []int32 // negative for zero
	groups, channels int
}

// A stretch is n values that follow each other in the image; src < 0 stands for
// zeros.
type stretch struct{ src, n int }

func (l *layout) add(src, n int) {
	if n == 0 {
		return
	}
	if k := len(l.stretches) - 1; k >= 0 {
		last := &l.stretches[k]
		if src < 0 && last.src < 0 || src >= 0 && last.src >= 0 && last.src+last.n == src {
			last.n += n
			return
		}
	}
	l.stretches = append(l.stretches, stretch{src, n})
}

// shorten turns stretches into indices where copying one costs less than a call.
func (l layout) shorten() layout {
	var index []int32
	for _, s := range l.stretches {
		for i := range s.n {
			if s.src < 0 {
				i = 0
			}
			index = append(index, int32(s.src+i))
		}
	}
	if len(index) < 16*len(l.stretches) {
		l.index, l.stretches = index, nil
	}
	return l
}

// layOut writes the laid form of an image to dst.
func layOut[T compute.Float](l *layout, dst, image []T) {
	each := len(dst) / l.groups
	for g := range l.groups {
		layGroup(l, dst[g*each:][:each], image[g*l.channels:])
	}
}

// layGroup is layOut of one group.
func layGroup[T compute.Float](l *layout, dst, image []T) {
	d := dst[:len(l.index)]
	for i, src := range l.index {
		var x T
		if uint(src) < uint(len(image)) {
			x = image[src]
		}
		d[i] = x
	}
	for _, s := range l.stretches {
		if s.src < 0 {
			clear(dst[:s.n])
		} else {
			kernel.CopyShort(dst[:s.n], image[s.src:][:s.n])
		}
		dst = dst[s.n:]
	}
}

// layBack is the reverse of layOut: every value of the image becomes the sum of
// its places in the laid form.
func layBack[T compute.Float](l *layout, image, laid []T) {
	clear(image)
	each := len(laid) / l.groups
	for g := range l.groups {
		addGroup(l, image[g*l.channels:], laid[g*each:][:each])
	}
}

// addGroup is layBack of one group.
func addGroup[T compute.Float](l *layout, image, laid []T) {
	for i, src := range l.index {
		if uint(src) < uint(len(image)) {
			image[src] += laid[i]
		}
	}
	for _, s := range l.stretches {
		if s.src >= 0 {
			kernel.Add(image[s.src:][:s.n], laid[:s.n])
		}
		laid = laid[s.n:]
	}
}
