package importer

import (
	"fmt"
	"slices"

	"utvi/nn"
)

// pooling reads a window. beyond says that windows reach over the border by ceil_mode, where
// no padding is.
func pooling(c *call, x *value, zeros sides) (s sides, out nn.Shape, stride int, pad [4]int, beyond bool, err error) {
	s, err = c.window(x, zeros, nil)
	if err != nil {
		return
	}
	stride = s.stride[1]
	if s.stride == s.kernel {
		stride = 0 // windows side by side
	} else if s.stride[0] != s.stride[1] && x.shape.H > 1 {
		err = fmt.Errorf("its strides are %v; they must be equal, or those of the window", s.stride)
		return
	}
	if s.dilation != [2]int{1, 1} {
		err = fmt.Errorf("its dilations are %v; they must be 1", s.dilation)
		return
	}
	size := [2]int{x.shape.H, x.shape.W}
	places := s.places(size)
	for i := range 2 {
		rest := (size[i] + s.begin[i] + s.end[i] - s.kernel[i]) % s.stride[i]
		// A last window that reaches over the border must begin before it.
		if c.int("ceil_mode", 0) != 0 && rest != 0 && places[i]*s.stride[i] < size[i]+s.begin[i] {
			places[i]++
			beyond = true
		}
	}
	out = nn.Shape{H: places[0], W: places[1], C: x.shape.C}
	pad, err = s.pad(size, places)
	return
}

func maxPool(c *call) (*value, error) {
	x, err := c.x()
	if err != nil {
		return nil, err
	}
	s, out, stride, pad, _, err := pooling(c, x, sides{})
	if err != nil {
		return nil, err
	}
	return x.after(nn.MaxPool2D{Size: s.kernel, Stride: stride, Pad: pad}, out, x.rowDims(out), true), nil
}

func avgPool(c *call) (*value, error) {
	x, zeros, err := c.padded()
	if err != nil {
		return nil, err
	}
	s, out, stride, pad, beyond, err := pooling(c, x, zeros)
	if err != nil {
		return nil, err
	}
	l := nn.AvgPool2D{Size: s.kernel, Stride: stride, Pad: pad}
	counts := zeros != sides{} || c.int("count_include_pad", 0) != 0
	inside := beyond || s.begin != zeros.begin || s.end != zeros.end // cells that count_include_pad is about
	switch {
	case pad == [4]int{} || s.begin == [2]int{} && s.end == [2]int{}:
	case counts && beyond, zeros != sides{} && inside && c.int("count_include_pad", 0) == 0:
		return nil, fmt.Errorf("some cells outside of the image count in its averages and some do not; use ceil_mode = 0 and one padding")
	default:
		l.CountPad = counts
	}
	return x.after(l, out, x.rowDims(out), true), nil
}

func globalPool(c *call) (*value, error) {
	x, err := c.x()
	if err != nil {
		return nil, err
	}
	if !x.first || len(x.dims) < 2 {
		return nil, fmt.Errorf("its input must be an image or a line with the channels first; a row has the size %v", x.dims)
	}
	size, out := [2]int{x.shape.H, x.shape.W}, nn.Vec(x.shape.C)
	var l nn.Layer = nn.AvgPool2D{Size: size}
	if c.op == "GlobalMaxPool" {
		l = nn.MaxPool2D{Size: size}
	}
	return x.after(l, out, x.rowDims(out), true), nil
}

// reduceMean is the average over all places of an image.
func reduceMean(c *call) (*value, error) {
	x, err := c.x()
	if err != nil {
		return nil, err
	}
	axes, err := c.axes()
	if err != nil {
		return nil, err
	}
	n := len(x.dims) + 1
	var places []int
	for _, a := range axes {
		if a < 0 {
			a += n
		}
		places = append(places, a)
	}
	slices.Sort(places)
	want := []int{2, 3}[:max(0, n-2)]
	if !x.first {
		want = []int{1, 2}[:max(0, n-2)]
	}
	if n < 3 || !slices.Equal(places, want) {
		return nil, fmt.Errorf("it averages over the dimensions %v; only the average over all places of an image is taken", axes)
	}
	out := nn.Vec(x.shape.C)
	y := x.after(nn.AvgPool2D{Size: [2]int{x.shape.H, x.shape.W}}, out, x.rowDims(out), true)
	if c.int("keepdims", 1) == 0 {
		return y.flat(), nil
	}
	if !x.first {
		y.dims, y.first = []int{1, 1, out.C}[3-(n-1):], false
	}
	return y, nil
}
