package importer

import (
	"slices"

	"utvi/onnx"
)

// slice takes a part of a list, or of the rows of a matrix, by any step.
func slice(n *onnx.Node, in []*constant) (*constant, bool, error) {
	var given [5]*constant // data, starts, ends, axes, steps; in leaves out those that are not there
	for i, name := range n.Inputs {
		if name != "" && i < len(given) && len(in) > 0 {
			given[i], in = in[0], in[1:]
		}
	}
	one := func(c *constant, standard int) int {
		if c == nil {
			return standard
		}
		return c.ints()[0]
	}
	for i, c := range given {
		if i < 3 && c == nil || i > 0 && c != nil && !c.scalar() {
			return nil, false, nil
		}
	}
	x, step := given[0], one(given[4], 1)
	if axis := one(given[3], 0); len(x.dims) == 0 || x.dims[0] == 0 || axis != 0 && axis != -len(x.dims) || step == 0 {
		return nil, false, nil
	}
	rows := x.dims[0]
	width := len(x.data) / rows
	at := func(i, least, most int) int {
		if i < 0 {
			i += rows
		}
		return max(least, min(most, i))
	}
	out := &constant{dims: slices.Clone(x.dims)}
	take := func(i int) { out.data = append(out.data, x.data[i*width:][:width]...) }
	out.dims[0] = 0
	if lo, hi := one(given[1], 0), one(given[2], 0); step > 0 {
		for i := at(lo, 0, rows); i < at(hi, 0, rows); i += step {
			take(i)
			out.dims[0]++
		}
	} else {
		for i := at(lo, -1, rows-1); i > at(hi, -1, rows-1); i += step {
			take(i)
			out.dims[0]++
		}
	}
	return out, true, nil
}
