package importer

import (
	"fmt"
	"math"
	"slices"

	"utvi/nn"
)

// resize is a Resize or an Upsample: the layer whose cells are those of the node.
func resize(c *call) (*value, error) {
	x, err := c.image()
	if err != nil {
		return nil, err
	}
	size, scale, err := c.resized(x)
	if err != nil {
		return nil, err
	}
	out := nn.Shape{H: size[0], W: size[1], C: x.layer.shape.C}
	if out.H > mostCells/out.W {
		return nil, fmt.Errorf("its output would be %d×%d", out.H, out.W)
	}
	how := c.text("coordinate_transformation_mode", "half_pixel")
	if c.op == "Upsample" {
		how = "asymmetric"
	}
	l := nn.Resize{Size: size}
	switch mode := c.text("mode", "nearest"); mode {
	case "linear", "bilinear":
		l.Bilinear = true
		l.AlignCorners = how == "align_corners"
	case "nearest":
	default:
		return nil, fmt.Errorf("its mode is %.20q; nearest and linear are taken", mode)
	}
	rows, columns := l.Matrices(x.layer.shape)
	for i, m := range [2][][]float64{rows, columns} {
		if !c.placed(m, how, scale[i], l.Bilinear) {
			return nil, fmt.Errorf("its cells lie by %s, rounded by %s, and scaled by %v; a layer takes cell i·in/out rounded down or, of linear, half_pixel and align_corners", how, c.text("nearest_mode", "round_prefer_floor"), scale)
		}
	}
	return x.after(l, out, x.rowDims(out), true), nil
}

// resized are the size of the output and what it is larger by.
func (c *call) resized(x *value) (size [2]int, scale [2]float64, err error) {
	if len(c.in) > 1 && c.op == "Resize" && c.opset > 10 && c.in[1] != nil && c.text("coordinate_transformation_mode", "") == "tf_crop_and_resize" {
		return size, scale, fmt.Errorf("it crops its input; only whole images are resized")
	}
	at := 1 // of the scales
	if c.op == "Resize" && c.opset > 10 {
		at = 2
	}
	numbers, err := c.weight(at)
	if err != nil {
		return size, scale, err
	}
	whole := false
	if numbers == nil || len(numbers.data) == 0 {
		numbers, err = c.weight(3)
		if err != nil {
			return size, scale, err
		}
		whole = true
	}
	n := len(x.row()) + 1
	if numbers == nil || len(numbers.data) != n || c.ints("axes", nil) != nil {
		return size, scale, fmt.Errorf("it needs constant scales or sizes, one for each of %d dimensions", n)
	}
	sides := [2]int{x.layer.shape.H, x.layer.shape.W}
	size = sides
	scale = [2]float64{1, 1}
	want := append([]int{-1}, x.row()...)
	for i, v := range numbers.data {
		side := i - n + 2
		switch {
		case i < 2 && (whole && (i == 0 || v == float64(want[i])) || v == 1):
		case i < 2 || !(v > 0) || v > mostCells:
			return size, scale, fmt.Errorf("its scales or sizes are %v; only the height and the width can change", numbers.data)
		case whole:
			size[side] = int(v)
			scale[side] = v / float64(sides[side])
		default:
			size[side] = int(math.Floor(v * float64(sides[side])))
			scale[side] = v
		}
	}
	if min(size[0], size[1]) < 1 || max(size[0], size[1]) > mostCells {
		return size, scale, fmt.Errorf("its output would be %v", size)
	}
	return size, scale, nil
}

// placed reports whether the cells of a matrix, outputs × inputs, are those that the node has.
func (c *call) placed(m [][]float64, how string, scale float64, linear bool) bool {
	in, out := len(m[0]), len(m)
	for i, row := range m {
		x := float64(i) / scale // asymmetric
		switch how {
		case "half_pixel", "pytorch_half_pixel":
			x = (float64(i)+0.5)/scale - 0.5
			if how == "pytorch_half_pixel" && out == 1 {
				x = 0
			}
		case "align_corners":
			x = float64(i) * float64(in-1) / float64(max(1, out-1))
		case "asymmetric":
		default:
			return false
		}
		want := make([]float64, in)
		x = min(max(x, 0), float64(in-1))
		if !linear {
			want[int(c.rounded(x))] = 1
		} else {
			at := int(math.Floor(x))
			want[at] = 1 - (x - float64(at))
			if at+1 < in {
				want[at+1] = x - float64(at)
			}
		}
		if !slices.EqualFunc(row, want, func(a, b float64) bool { return math.Abs(a-b) <= 1e-6 }) {
			return false
		}
	}
	return true
}

// rounded is a place of the input as its cell.
func (c *call) rounded(x float64) float64 {
	standard := "round_prefer_floor"
	if c.op == "Upsample" || c.opset < 11 {
		standard = "floor"
	}
	switch c.text("nearest_mode", standard) {
	case "floor":
		return math.Floor(x)
	case "ceil":
		return math.Ceil(x)
	case "round_prefer_ceil":
		return math.Floor(x + 0.5)
	}
	return math.Ceil(x - 0.5)
}

// groupNorm is an InstanceNormalization or a GroupNormalization of an image.
func groupNorm(c *call) (*value, error) {
	if out, ok, err := c.groupsAsChannels(); ok || err != nil {
		return out, err
	}
	x, err := c.image()
	if err != nil {
		return nil, err
	}
	n := x.layer.shape.C
	groups := n
	if c.op == "GroupNormalization" {
		groups = c.int("num_groups", 0)
	}
	if groups < 1 || n%groups != 0 {
		return nil, fmt.Errorf("it has %d groups of %d channels", groups, n)
	}
	var numbers [2][]float64 // gains, offsets
	for i := range numbers {
		k, err := c.weight(1 + i)
		if err != nil {
			return nil, err
		}
		switch {
		case k != nil && len(k.data) == n:
			numbers[i] = k.data
		case k != nil && len(k.data) == groups: // one a group, before opset 21
			for ch := range n {
				numbers[i] = append(numbers[i], k.data[ch/(n/groups)])
			}
		default:
			return nil, fmt.Errorf("its input %d must have one number for each of %d channels", 1+i, n)
		}
	}
	eps := c.float("epsilon", 1e-5)
	if groups == n {
		return x.same(nn.InstanceNorm{Eps: eps}, numbers[0], numbers[1]), nil
	}
	return x.same(nn.GroupNorm{Groups: groups, Eps: eps}, numbers[0], numbers[1]), nil
}

// groupsAsChannels is a GroupNorm that is spelt out, as PyTorch does: an InstanceNormalization of an
// image whose groups of channels were made its channels. ok is false if the node is none.
func (c *call) groupsAsChannels() (out *value, ok bool, err error) {
	x, err := c.x()
	if err != nil || c.op != "InstanceNormalization" || !x.at.rowsFirst() || len(x.at) != 3 {
		return nil, false, err
	}
	s := x.layer.shape
	groups := x.at[1].size()
	if groups < 1 || s.C%groups != 0 || s.C == groups {
		return nil, false, nil
	}
	channels := layout{rowsAxis(), axis{{groups, s.C / groups}}, axis{{s.C / groups, 1}, {s.H * s.W, s.C}}}
	gain, err := c.weight(1)
	if err != nil {
		return nil, false, err
	}
	offset, err := c.weight(2)
	if err != nil || !x.at.equal(channels) || gain == nil || offset == nil || len(gain.data) != groups || len(offset.data) != groups {
		return nil, false, err
	}
	var numbers [2][]float64
	for i, k := range []*constant{gain, offset} {
		for ch := range s.C {
			numbers[i] = append(numbers[i], k.data[ch/(s.C/groups)])
		}
	}
	return x.same(nn.GroupNorm{Groups: groups, Eps: c.float("epsilon", 1e-5)}, numbers[0], numbers[1]), true, nil
}
