package importer

import (
	"slices"

	"utvi/nn"
)

// A layout says where the elements of a tensor of the graph lie among the units of a layer here:
// a list of dimensions, each made of factors. Reshaping and transposing change a layout alone, so
// that no layer is needed before another one wants the units in an order of its own. All units of
// the layer are in the layout, each once.
type layout []axis

// An axis is one dimension: its factors, the one that changes slowest first.
type axis []factor

// A factor counts to n; each count is a step of so many units. That of the rows of a batch has the
// step ofRows.
type factor struct{ n, step int }

const (
	ofRows = -1

	// batch stands for the number of rows, which is not known: a prime that no size is a multiple of,
	// so that sizes that are computed from it can be told.
	batch = 1_000_003
)

func rowsAxis() axis { return axis{{batch, ofRows}} }

func (a axis) size() int {
	n := 1
	for _, f := range a {
		n *= f.n
	}
	return n
}

// dims are the sizes of all dimensions, with batch for the rows.
func (l layout) dims() []int {
	d := make([]int, len(l))
	for i, a := range l {
		d[i] = a.size()
	}
	return d
}

// tidy joins factors that count through neighbours, and leaves out those of 1.
func (a axis) tidy() axis {
	var out axis
	for _, f := range a {
		if f.n == 1 {
			continue
		}
		if n := len(out); n > 0 && f.step != ofRows && out[n-1].step == f.n*f.step {
			out[n-1] = factor{out[n-1].n * f.n, f.step}
			continue
		}
		out = append(out, f)
	}
	return out
}

func (l layout) tidy() layout {
	out := make(layout, len(l))
	for i, a := range l {
		out[i] = a.tidy()
	}
	return out
}

func (l layout) equal(m layout) bool {
	return slices.EqualFunc(l.tidy(), m.tidy(), func(a, b axis) bool { return slices.Equal(a, b) })
}

// all are the factors of all dimensions.
func (l layout) all() axis { return slices.Concat(l...) }

// withoutRows are the factors of an axis that count units.
func (a axis) withoutRows() axis {
	return slices.DeleteFunc(slices.Clone(a), func(f factor) bool { return f.step == ofRows || f.n == 1 })
}

// hasRows reports whether the rows are in the axis.
func (a axis) hasRows() bool {
	return slices.ContainsFunc(a, func(f factor) bool { return f.step == ofRows })
}

// rowsFirst reports whether the first dimension is that of the rows.
func (l layout) rowsFirst() bool { return len(l) > 0 && slices.Equal(l[0].tidy(), rowsAxis()) }

// units are the units of the elements of a row, in their order.
func (l layout) units() []int {
	all := []int{0}
	for _, f := range l.all().withoutRows() {
		next := make([]int, 0, len(all)*f.n)
		for _, at := range all {
			for i := range f.n {
				next = append(next, at+i*f.step)
			}
		}
		all = next
	}
	return all
}

// regroup gives the elements, in their order, other dimensions. ok is false if a dimension would
// begin within a count that cannot be cut there.
func (l layout) regroup(dims []int) (out layout, ok bool) {
	rest := l.all()
	for _, d := range dims {
		var a axis
		for d > 1 {
			if len(rest) == 0 {
				return nil, false
			}
			f := rest[0]
			switch {
			case d%f.n == 0:
				a = append(a, f)
				d /= f.n
				rest = rest[1:]
			case f.step != ofRows && f.n%d == 0:
				a = append(a, factor{d, f.step * (f.n / d)})
				rest = slices.Clone(rest)
				rest[0].n = f.n / d
				d = 1
			default:
				return nil, false
			}
		}
		if d < 1 {
			return nil, false
		}
		out = append(out, a.tidy())
	}
	return out, rest.size() == 1
}

// refine cuts two axes of one size into factors of the same counts.
func refine(a, b axis) (x, y axis, ok bool) {
	ones := func(f factor) bool { return f.n == 1 }
	a, b = slices.DeleteFunc(slices.Clone(a), ones), slices.DeleteFunc(slices.Clone(b), ones)
	for len(a) > 0 && len(b) > 0 {
		n := min(a[0].n, b[0].n)
		var f, g factor
		f, a, ok = a.take(n)
		if !ok {
			return nil, nil, false
		}
		g, b, ok = b.take(n)
		if !ok {
			return nil, nil, false
		}
		x = append(x, f)
		y = append(y, g)
	}
	return x, y, len(a) == len(b)
}

// take cuts a factor of the count n off the front.
func (a axis) take(n int) (f factor, rest axis, ok bool) {
	f = a[0]
	switch {
	case f.n == n:
		return f, a[1:], true
	case f.step == ofRows || f.n%n != 0:
		return f, a, false
	}
	a[0].n = f.n / n
	return factor{n, f.step * (f.n / n)}, a, true
}

// cut cuts factors where one side of a shape ends and the next begins.
func (l layout) cut(s nn.Shape) layout {
	out := make(layout, len(l))
	for i, a := range l {
		for _, f := range a {
			if f.step == ofRows {
				out[i] = append(out[i], f)
				continue
			}
			for _, edge := range []int{s.W * s.C, s.C} {
				if f.step < edge && f.step*f.n > edge {
					inner := edge / f.step
					out[i] = append(out[i], factor{f.n / inner, edge})
					f.n = inner
				}
			}
			out[i] = append(out[i], f)
		}
	}
	return out
}

// sideAt is the side of a shape that a step lies in: 0 is the height.
func sideAt(step int, s nn.Shape) int {
	switch {
	case step < s.C:
		return 2
	case step < s.W*s.C:
		return 1
	}
	return 0
}

// sideOf is the side of a shape that an axis is, all of it in its order; −1 if it is none.
func sideOf(a axis, s nn.Shape) int {
	a = a.tidy()
	if len(a) != 1 {
		return -1
	}
	for side, f := range []factor{{s.H, s.W * s.C}, {s.W, s.C}, {s.C, 1}} {
		if a[0] == f {
			return side
		}
	}
	return -1
}

// plain is the layout of rows whose elements lie in their order.
func plain(dims []int) layout {
	l := make(layout, len(dims))
	step := 1
	for i := len(dims) - 1; i >= 0; i-- {
		l[i] = axis{{dims[i], step}}.tidy()
		step *= dims[i]
	}
	return append(layout{rowsAxis()}, l...)
}

// firstLayout is that of images and lines whose channels come first in the graph.
func firstLayout(dims []int) layout {
	s := channelsFirst(dims)
	l := layout{rowsAxis(), axis{{s.C, 1}}}
	if len(dims) > 2 {
		l = append(l, axis{{s.H, s.W * s.C}})
	}
	if len(dims) > 1 {
		l = append(l, axis{{s.W, s.C}})
	}
	return l.tidy()
}
