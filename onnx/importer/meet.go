package importer

import (
	"cmp"
	"fmt"
	"slices"

	"utvi/fn"
	"utvi/nn"
)

// meet is an operator of two tensors that come from different layers.
func (c *call) meet(text string, v, w *value) (*value, error) {
	v, w, at, err := c.aligned(v, w)
	if err != nil {
		return nil, err
	}
	shape := nn.Shape{}
	a, b := v.layer.shape, w.layer.shape
	shape.H = max(a.H, b.H)
	shape.W = max(a.W, b.W)
	shape.C = max(a.C, b.C)
	pair := func(l nn.Layer, v, w *value) *value { return joined(l, shape, at, []*value{v, w}) }
	relu := nn.Apply{F: fn.ReLU()}
	less := nn.Sum{By: []float64{1, -1}}
	switch text {
	case "($x + $y)":
		return pair(nn.Sum{}, v, w), nil
	case "($x - $y)":
		return pair(less, v, w), nil
	case "($x*$y)":
		return pair(nn.Product{}, v, w), nil
	case "($x/$y)":
		inverse, err := w.of(func(x string) string { return "(1/" + x + ")" })
		if err != nil {
			return nil, err
		}
		inverse, err = inverse.settle()
		return pair(nn.Product{}, v, inverse), err
	case choices["Max"]: // y + relu(x − y)
		return pair(nn.Sum{}, pair(less, v, w).same(relu), w), nil
	case choices["Min"]: // x − relu(x − y)
		return pair(less, v, pair(less, v, w).same(relu)), nil
	}
	return nil, fmt.Errorf("its inputs come from different layers; sums, differences, products, quotients, minima and maxima of two tensors are taken")
}

// aligned are two tensors whose units lie alike, with a side of length 1 where one has a dimension of
// 1, and the layout of what an operator makes of both.
func (c *call) aligned(v, w *value) (a, b *value, at layout, err error) {
	a, err = v.settle()
	if err != nil {
		return nil, nil, nil, err
	}
	b, err = w.settle()
	if err != nil {
		return nil, nil, nil, err
	}
	rank := max(len(a.at), len(b.at))
	a, b = a.ranked(rank), b.ranked(rank)
	dims, err := spreadDims(a, b)
	if err != nil {
		return nil, nil, nil, err
	}
	if slices.Equal(b.at.dims(), dims) {
		out, ok, err := a.matched(b)
		if ok || err != nil {
			return out, b, b.at, err
		}
	}
	if slices.Equal(a.at.dims(), dims) {
		out, ok, err := b.matched(a)
		if ok || err != nil {
			return a, out, a.at, err
		}
	}
	return inGroups(a, b, dims)
}

// ranked is v with dimensions of 1 in front.
func (v *value) ranked(rank int) *value {
	w := *v
	w.at = append(make(layout, rank-len(v.at)), v.at...)
	return &w
}

// spreadDims are the dimensions of what an operator makes of two tensors.
func spreadDims(a, b *value) ([]int, error) {
	x, y := a.at.dims(), b.at.dims()
	dims := make([]int, len(x))
	for i := range x {
		dims[i] = max(x[i], y[i])
		if x[i] != y[i] && min(x[i], y[i]) != 1 || a.at[i].hasRows() != b.at[i].hasRows() {
			return nil, fmt.Errorf("its inputs have the dimensions %v and %v; each must be the same, or 1, which stands for all", a.named(), b.named())
		}
	}
	return dims, nil
}

// matched arranges v as w lies, which has its dimensions or larger ones. ok is false if a dimension
// of 1 would be a part of a side of w.
func (v *value) matched(w *value) (out *value, ok bool, err error) {
	sides, at, ok := v.sidesLike(w)
	if !ok {
		v, err = v.inOrder()
		if err != nil {
			return nil, false, err
		}
		sides, at, ok = v.sidesLike(w)
		if !ok {
			return nil, false, fmt.Errorf("the dimensions %v and %v do not meet", v.named(), w.named())
		}
	}
	s := w.layer.shape
	for side, full := range [3]int{s.H, s.W, s.C} {
		if n := sides[side].size(); n != 1 && n != full {
			return nil, false, nil
		}
	}
	u := *v
	u.at = at
	out, err = u.arranged(sides)
	return out, err == nil, err
}

// sidesLike are the factors of v in the sides of w, with the layout of v cut as needed; ok is false
// if that cannot be.
func (v *value) sidesLike(w *value) (axes [3]axis, at layout, ok bool) {
	type placed struct {
		step int // in w
		factor
	}
	var sides [3][]placed
	at = slices.Clone(v.at)
	for i, a := range w.at.cut(w.layer.shape) {
		if v.at[i].size() == 1 {
			continue
		}
		x, y, ok := refine(a, v.at[i])
		if !ok {
			return axes, nil, false
		}
		at[i] = y
		for k, f := range x {
			switch {
			case (f.step == ofRows) != (y[k].step == ofRows):
				return axes, nil, false
			case f.step != ofRows:
				side := sideAt(f.step, w.layer.shape)
				sides[side] = append(sides[side], placed{f.step, y[k]})
			}
		}
	}
	for side := range sides {
		slices.SortFunc(sides[side], func(a, b placed) int { return cmp.Compare(b.step, a.step) })
		for _, p := range sides[side] {
			axes[side] = append(axes[side], p.factor)
		}
	}
	return axes, at, true
}

// inGroups arranges two tensors so that neighbouring dimensions in which both are alike, both as
// long or one of them 1, become one side.
func inGroups(a, b *value, dims []int) (x, y *value, at layout, err error) {
	type group struct {
		first, last int
		inA, inB    bool
	}
	var groups []group
	for i, d := range dims {
		if d > batch && d%batch == 0 {
			return nil, nil, nil, fmt.Errorf("its inputs have the dimensions %v and %v, with the rows and other numbers in one dimension", a.named(), b.named())
		}
		if d == 1 || d == batch {
			continue
		}
		g := group{i, i, a.at[i].size() > 1, b.at[i].size() > 1}
		if n := len(groups); n > 0 && groups[n-1].inA == g.inA && groups[n-1].inB == g.inB {
			groups[n-1].last = i
			continue
		}
		groups = append(groups, g)
	}
	if len(groups) > 3 {
		return nil, nil, nil, fmt.Errorf("its inputs have the dimensions %v and %v, which meet in more than 3 groups", a.named(), b.named())
	}
	var sides [2][3]axis
	for i, g := range groups {
		side := 3 - len(groups) + i
		for k, v := range []*value{a, b} {
			for _, axis := range v.at[g.first : g.last+1] {
				sides[k][side] = append(sides[k][side], axis.withoutRows()...)
			}
		}
	}
	x, err = a.arranged(sides[0])
	if err != nil {
		return nil, nil, nil, err
	}
	y, err = b.arranged(sides[1])
	return x, y, ordered(a, dims), err
}

// ordered is the layout of units that lie in the order of the graph; the rows are where they are in
// v.
func ordered(v *value, dims []int) layout {
	at := make(layout, len(dims))
	step := 1
	for i := len(dims) - 1; i >= 0; i-- {
		if v.at[i].hasRows() {
			at[i] = rowsAxis()
			continue
		}
		at[i] = axis{{dims[i], step}}
		step *= dims[i]
	}
	return at.tidy()
}

// product is a product of two tensors as matrices, one for each of the dimensions before the last
// two.
func (c *call) product(a, b *value) (*value, error) {
	a, err := a.settle()
	if err != nil {
		return nil, err
	}
	b, err = b.settle()
	if err != nil {
		return nil, err
	}
	if len(a.at) < 2 || len(b.at) < 2 {
		return nil, fmt.Errorf("its inputs have the dimensions %v and %v; a product of two tensors needs at least 2 each", a.named(), b.named())
	}
	rank := max(len(a.at), len(b.at))
	a, b = a.ranked(rank), b.ranked(rank)
	lead := rank - 2
	x, y := a.at[:lead].all(), b.at[:lead].all()
	p, q, ok := refine(x, y)
	same := ok
	for i := range p {
		same = same && (p[i].step == ofRows) == (q[i].step == ofRows)
	}
	last := func(v *value) bool { return v.at[lead].hasRows() || v.at[lead+1].hasRows() }
	if !same || last(a) || last(b) || a.at[lead+1].size() != b.at[lead].size() {
		return nil, fmt.Errorf("its inputs have the dimensions %v and %v; the columns of the first must be the rows of the second, and the dimensions before these two the same", a.named(), b.named())
	}
	l := nn.MatMul{}
	n, columns := a.at[lead].size(), b.at[lead+1].size()
	u := *a
	u.at = layout{p, a.at[lead], a.at[lead+1]}
	v := *b
	v.at = layout{q, b.at[lead], b.at[lead+1]}
	first, turned, err := u.asMatrices()
	if err != nil {
		return nil, err
	}
	l.TransposeA = turned
	second, turned, err := v.asMatrices()
	if err != nil {
		return nil, err
	}
	l.TransposeB = turned
	heads := first.layer.shape.H
	at := make(layout, rank)
	step := n * columns
	for i := lead - 1; i >= 0; i-- {
		for k := len(a.at[i]) - 1; k >= 0; k-- {
			f := a.at[i][k]
			if f.step != ofRows {
				f.step = step
				step *= f.n
			}
			at[i] = append(axis{f}, at[i]...)
		}
	}
	at[lead] = axis{{n, columns}}
	at[lead+1] = axis{{columns, 1}}
	return joined(l, nn.Shape{H: heads, W: n, C: columns}, at.tidy(), []*value{first, second}), nil
}

// asMatrices is v, of three dimensions, as heads × rows × columns, or with rows and columns
// exchanged if it lies so.
func (v *value) asMatrices() (out *value, turned bool, err error) {
	heads := v.at[0].withoutRows()
	straight, err := v.arranged([3]axis{heads, v.at[1], v.at[2]})
	if err != nil || straight.layer == v.layer {
		return straight, false, err
	}
	other, err := v.arranged([3]axis{heads, v.at[2], v.at[1]})
	if err != nil || other.layer == v.layer {
		return other, true, err
	}
	return straight, false, nil
}
