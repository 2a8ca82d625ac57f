package importer

import (
	"fmt"
	"slices"

	"utvi/nn"
)

// mostPieces bounds how many elements that are no neighbours are taken one by one.
const mostPieces = 64

// slice keeps parts of some dimensions.
func slice(c *call) (*value, error) {
	x, err := c.x()
	if err != nil {
		return nil, err
	}
	var lists [4][]int // starts, ends, axes, steps
	for i, name := range []string{"starts", "ends", "axes", "steps"} {
		lists[i] = c.ints(name, nil)
		k, err := c.weight(1 + i)
		if err != nil {
			return nil, err
		}
		if k != nil {
			lists[i] = k.ints()
		}
	}
	for i, start := range lists[0] {
		dim, step := i, 1
		if len(lists[2]) > i {
			dim = lists[2][i]
		}
		if len(lists[3]) > i {
			step = lists[3][i]
		}
		dim, err = c.dimension(dim, len(x.at))
		if err != nil {
			return nil, err
		}
		if len(lists[1]) <= i || step == 0 {
			return nil, fmt.Errorf("its starts, ends, axes and steps are %v", lists)
		}
		n := x.at[dim].size()
		kept := part{start: start, end: lists[1][i], step: step}.rows(n)
		if len(kept) == n && step > 0 {
			continue
		}
		x, err = x.picked(dim, kept)
		if err != nil {
			return nil, err
		}
	}
	return x, nil
}

// picked keeps some elements of a dimension.
func (v *value) picked(dim int, kept []int) (*value, error) {
	if v.at[dim].hasRows() {
		return nil, fmt.Errorf("it takes rows apart: dimension %d of %v", dim, v.named())
	}
	if len(kept) == 0 {
		return nil, fmt.Errorf("it keeps nothing of dimension %d of %v", dim, v.named())
	}
	n := v.at[dim].size()
	step := 1
	if len(kept) > 1 {
		step = kept[1] - kept[0]
	}
	even := true
	for i, at := range kept {
		even = even && at == kept[0]+i*step
		if at < 0 || at >= n {
			return nil, fmt.Errorf("it takes element %d of dimension %d of %v", at, dim, v.named())
		}
	}
	switch {
	case even && step == 1:
		return v.sliced(dim, kept[0], kept[0]+len(kept))
	case even && step > 1 && n%step == 0 && len(kept) == n/step && kept[0] < step:
		dims := v.at.dims()
		apart := slices.Insert(slices.Clone(dims), dim+1, step)
		apart[dim] = n / step
		w, err := v.sized(apart)
		if err != nil {
			return nil, err
		}
		w, err = w.sliced(dim+1, kept[0], kept[0]+1)
		if err != nil {
			return nil, err
		}
		dims[dim] = n / step
		return w.sized(dims)
	case len(kept) > mostPieces:
		return nil, fmt.Errorf("it takes %d elements of dimension %d of %v that are no neighbours; at most %d are taken", len(kept), dim, v.named(), mostPieces)
	}
	var all []*value
	for _, at := range kept {
		one, err := v.sliced(dim, at, at+1)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return (*call)(nil).behind(all, dim, false)
}

// sliced keeps the elements from ≤ i < to of a dimension.
func (v *value) sliced(dim, from, to int) (*value, error) {
	if from == 0 && to == v.at[dim].size() {
		return v, nil
	}
	v, side, err := v.asSide(dim)
	if err != nil {
		return nil, err
	}
	axis := [3]nn.Axis{nn.Height, nn.Width, ""}[side]
	return v.withSide(nn.Slice{Axis: axis, From: from, To: to}, dim, side, to-from), nil
}

// gather takes elements of a dimension by their numbers, which are constants.
func gather(c *call) (*value, error) {
	if len(c.in) > 1 && c.in[0] != nil && c.in[0].constant != nil && c.in[1] != nil && c.in[1].constant == nil {
		return nil, fmt.Errorf("it looks numbers up by its input, as an embedding does; only elements by constant numbers are taken")
	}
	x, err := c.x()
	if err != nil {
		return nil, err
	}
	k, err := c.weight(1)
	if err != nil || k == nil || len(k.dims) > 1 {
		return nil, fmt.Errorf("its indices must be a constant number or a constant list of numbers")
	}
	dim, err := c.dimension(c.int("axis", 0), len(x.at))
	if err != nil {
		return nil, err
	}
	kept := k.ints()
	for i, at := range kept {
		if at < 0 {
			kept[i] += x.at[dim].size()
		}
	}
	y, err := x.picked(dim, kept)
	if err != nil || len(k.dims) == 1 {
		return y, err
	}
	w := *y
	w.at = slices.Delete(slices.Clone(y.at), dim, dim+1)
	return &w, nil
}

// split cuts a dimension into pieces.
func split(c *call) ([]*value, error) {
	x, err := c.x()
	if err != nil {
		return nil, err
	}
	dim, err := c.dimension(c.int("axis", 0), len(x.at))
	if err != nil {
		return nil, err
	}
	sizes := c.ints("split", nil)
	k, err := c.weight(1)
	if err != nil {
		return nil, err
	}
	if k != nil {
		sizes = k.ints()
	}
	n, pieces := x.at[dim].size(), len(c.n.Outputs)
	if sizes == nil {
		each := (n + pieces - 1) / pieces
		for at := 0; at < n; at += each {
			sizes = append(sizes, min(each, n-at))
		}
	}
	sum := 0
	for _, s := range sizes {
		if s < 1 || s > n {
			return nil, fmt.Errorf("it cuts dimension %d of %v into %v", dim, x.named(), sizes)
		}
		sum += s
	}
	if sum != n || len(sizes) != pieces || x.at[dim].hasRows() {
		return nil, fmt.Errorf("it cuts dimension %d of %v into %v, for %d outputs", dim, x.named(), sizes, pieces)
	}
	x, _, err = x.asSide(dim) // once for all pieces
	if err != nil {
		return nil, err
	}
	var all []*value
	at := 0
	for i, s := range sizes {
		var y *value
		if c.used[c.n.Outputs[i]] {
			y, err = x.sliced(dim, at, at+s)
			if err != nil {
				return nil, err
			}
		}
		all = append(all, y)
		at += s
	}
	return all, nil
}
