package importer

import (
	"fmt"
	"slices"

	"utvi/nn"
)

// concat lays tensors one behind the other along a dimension. Constants may be the first and the
// last ones.
func concat(c *call) (*value, error) {
	var signals []*value
	var before, after []*constant
	for _, v := range c.in {
		switch {
		case v == nil:
			return nil, fmt.Errorf("an input is left out")
		case v.constant != nil && len(signals) == 0:
			before = append(before, v.constant)
		case v.constant != nil:
			after = append(after, v.constant)
		case len(after) > 0:
			return nil, fmt.Errorf("it has a constant between tensors that depend on the input; constants can be the first and the last ones")
		default:
			x, err := v.settle()
			if err != nil {
				return nil, err
			}
			signals = append(signals, x)
		}
	}
	if len(signals) == 0 {
		return nil, fmt.Errorf("it computes constants, which is not taken here")
	}
	dim, err := c.dimension(c.int("axis", 0), len(signals[0].at))
	if err != nil {
		return nil, err
	}
	out, err := c.behind(signals, dim, len(before)+len(after) > 0)
	if err != nil || len(before)+len(after) == 0 {
		return out, err
	}
	return out.between(before, after, dim)
}

// dimension is a dimension that a node names, of so many.
func (c *call) dimension(dim, of int) (int, error) {
	if dim < -of || dim >= of {
		return 0, fmt.Errorf("it works along dimension %d; its input has %d", dim, of)
	}
	if dim < 0 {
		dim += of
	}
	return dim, nil
}

// behind lays settled values one behind the other. With apart, the dimension becomes the width.
func (c *call) behind(all []*value, dim int, apart bool) (*value, error) {
	first := all[0]
	for _, v := range all {
		dims, want := v.at.dims(), first.at.dims()
		if len(dims) == len(want) {
			want[dim] = dims[dim]
		}
		if !slices.Equal(dims, want) || v.at[dim].hasRows() {
			return nil, fmt.Errorf("it lays tensors of the dimensions %v and %v behind each other along dimension %d; the others must be the same", first.named(), v.named(), dim)
		}
	}
	side := sideOf(first.at[dim], first.layer.shape)
	if side < 0 || apart {
		var err error
		first, err = first.apart(dim)
		if err != nil {
			return nil, err
		}
		side = 1
	}
	parts := []*value{first}
	n := first.at[dim].size()
	for _, v := range all[1:] {
		w, err := v.beside(first, dim, side)
		if err != nil {
			return nil, err
		}
		parts = append(parts, w)
		n += v.at[dim].size()
	}
	if len(parts) == 1 {
		return first, nil
	}
	axis := [3]nn.Axis{nn.Height, nn.Width, ""}[side]
	out := first.withSide(nn.Concat{Axis: axis}, dim, side, n)
	out.layer.from = parts
	for _, v := range parts {
		v.layer.used = true
	}
	return out, nil
}

// beside arranges v as w lies, but for a dimension that is a side of w and may have another length.
func (v *value) beside(w *value, dim, side int) (*value, error) {
	s := w.layer.shape
	lengths := [3]int{s.H, s.W, s.C}
	lengths[side] = 1
	// Without the dimension both have the same ones.
	other := *w
	other.at = slices.Clone(w.at)
	inner := [3]int{s.W * s.C, s.C, 1}[side]
	for i, a := range w.at {
		other.at[i] = nil
		for _, f := range a {
			if f.step >= inner && f.step != ofRows && i != dim {
				f.step /= w.at[dim].size()
			}
			if i != dim {
				other.at[i] = append(other.at[i], f)
			}
		}
	}
	shape := nn.Shape{H: lengths[0], W: lengths[1], C: lengths[2]}
	other.layer = &layer{shape: shape}
	own := *v
	own.at = slices.Clone(v.at)
	own.at[dim] = nil
	sides, at, ok := own.sidesLike(&other)
	if !ok {
		ordered, err := v.inOrder()
		if err != nil {
			return nil, err
		}
		own = *ordered
		own.at = slices.Clone(ordered.at)
		own.at[dim] = nil
		sides, at, ok = own.sidesLike(&other)
		if !ok {
			return nil, fmt.Errorf("the dimensions %v and %v do not meet", v.named(), w.named())
		}
		v = ordered
	}
	sides[side] = v.at[dim]
	own.at = at
	own.at[dim] = v.at[dim]
	return own.arranged(sides)
}

// between puts constants before and behind v along a dimension that is its width.
func (v *value) between(before, after []*constant, dim int) (*value, error) {
	dims := v.at.dims()
	n := dims[dim]
	lengths := func(all []*constant) (sum int, err error) {
		for _, k := range all {
			full := k.dims
			if len(full) != len(dims) {
				return 0, fmt.Errorf("a constant of the size %v does not fit the dimensions %v", k.dims, v.named())
			}
			for i, d := range full {
				if i != dim && d != dims[i] && d != 1 {
					return 0, fmt.Errorf("a constant of the size %v does not fit the dimensions %v", k.dims, v.named())
				}
			}
			sum += full[dim]
		}
		return sum, nil
	}
	lead, err := lengths(before)
	if err != nil {
		return nil, err
	}
	tail, err := lengths(after)
	if err != nil {
		return nil, err
	}
	total := lead + n + tail
	if s := v.layer.shape; !fits(nn.Shape{H: s.H, W: total, C: s.C}) {
		return nil, fmt.Errorf("its output would be %d×%d×%d; at most %d numbers are allowed", s.H, total, s.C, mostInputs)
	}
	wide := v.withSide(nn.Pad2D{Pad: [4]int{0, lead, 0, tail}}, dim, 1, total)
	at := make([]float64, wide.layer.shape.Size())
	put := func(all []*constant, from int) {
		for _, k := range all {
			part := *wide
			part.at = slices.Clone(wide.at)
			f := wide.at[dim]
			step := 1
			if len(f) > 0 {
				step = f[0].step
			}
			part.at[dim] = axis{{k.dims[dim], step}}
			dims := part.at.dims()
			for i := range dims {
				if part.at[i].hasRows() {
					dims[i] = 1
				}
			}
			for i, x := range spread(k, k.dims, dims, part.at.units(), len(at), from*step) {
				at[i] += x
			}
			from += k.dims[dim]
		}
	}
	put(before, 0)
	put(after, lead+n)
	return wide.same(nn.Positions{Fixed: true}, at), nil
}
