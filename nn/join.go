package nn

import (
	"fmt"

	"utvi/gauss"
)

// partsOf returns the signals that a join reads, with their places in a row; there must be at least
// two.
func partsOf[T gauss.Float](b *Binder[T], what string) ([]part, error) {
	if len(b.Parts) < 2 {
		return nil, fmt.Errorf("it reads one signal; %s needs several: make it a step of an nn.Graph, and name them in nn.Step.From", what)
	}
	parts := make([]part, len(b.Parts))
	at := 0
	for i, p := range b.Parts {
		parts[i] = part{p.Shape, p.Form, at}
		at += p.Shape.Size()
	}
	return parts, nil
}

// list names the signals that a join reads, with their shapes.
func list[T gauss.Float](b *Binder[T]) string {
	s := ""
	for i, p := range b.Parts {
		switch {
		case i > 0 && i == len(b.Parts)-1:
			s += " and "
		case i > 0:
			s += ", "
		}
		s += fmt.Sprintf("%s (%v)", p.Name, p.Shape)
	}
	return s
}

// spread returns the shape that signals have together, where a side of length 1 stands for all
// places along it: a vector of channels meets an image at each of its places.
func spread[T gauss.Float](b *Binder[T], parts []part) (Shape, error) {
	out := Shape{1, 1, 1}
	side := func(all *int, one int) bool {
		if *all == 1 {
			*all = one
		}
		return one == 1 || one == *all
	}
	for _, p := range parts {
		if !side(&out.H, p.shape.H) || !side(&out.W, p.shape.W) || !side(&out.C, p.shape.C) {
			return out, fmt.Errorf("the shapes of %s do not meet; each of height, width and channels must be the same, or 1, which stands for all", list(b))
		}
	}
	return out, nil
}

// A spreading says which unit of a part each unit of a joined shape takes; nil: its own.
type spreading []int32

func newSpreading(p part, out Shape) spreading {
	if p.shape == out {
		return nil
	}
	s := make(spreading, 0, out.Size())
	stride := func(side, stride int) int {
		if side == 1 {
			return 0
		}
		return stride
	}
	h := stride(p.shape.H, p.shape.W*p.shape.C)
	w := stride(p.shape.W, p.shape.C)
	c := stride(p.shape.C, 1)
	for i := range out.H {
		for j := range out.W {
			for k := range out.C {
				s = append(s, int32(i*h+j*w+k*c))
			}
		}
	}
	return s
}

// to writes x, spread, to dst; where nothing is spread it returns x itself.
func to[T gauss.Float](s spreading, dst, x []T) []T {
	if s == nil {
		return x
	}
	for i, at := range s {
		dst[i] = x[at]
	}
	return dst
}

// from writes to dst what the units that each of its units was spread to have in sum.
func from[T gauss.Float](s spreading, dst, x []T) {
	if s == nil {
		copy(dst, x)
		return
	}
	clear(dst)
	for i, at := range s {
		dst[at] += x[i]
	}
}
