package importer

import (
	"fmt"
	"slices"

	"utvi/nn"
)

// pooling reads a window that does not pad.
func pooling(c *call) (x *value, s sides, out nn.Shape, stride int, err error) {
	if x, err = c.x(); err != nil {
		return
	}
	if s, err = c.window(x, nil); err != nil {
		return
	}
	switch {
	case s.begin != [2]int{} || s.end != [2]int{}:
		err = fmt.Errorf("it pads by %v and %v; a pooling layer does not pad", s.begin, s.end)
	case s.dilation != [2]int{1, 1}:
		err = fmt.Errorf("its dilations are %v; they must be 1", s.dilation)
	case c.int("ceil_mode", 0) != 0 && ((x.shape.H-s.kernel[0])%s.stride[0] != 0 || (x.shape.W-s.kernel[1])%s.stride[1] != 0):
		err = fmt.Errorf("its windows reach over the border (ceil_mode); they must lie inside")
	}
	if stride = s.stride[1]; s.stride == s.kernel {
		stride = 0 // windows side by side
	} else if s.stride[0] != s.stride[1] && x.shape.H > 1 {
		err = fmt.Errorf("its strides are %v; they must be equal, or those of the window", s.stride)
	}
	out = nn.Shape{H: (x.shape.H-s.kernel[0])/s.stride[0] + 1, W: (x.shape.W-s.kernel[1])/s.stride[1] + 1, C: x.shape.C}
	return
}

func maxPool(c *call) (*value, error) {
	x, s, out, stride, err := pooling(c)
	if err != nil {
		return nil, err
	}
	return x.after(nn.MaxPool2D{Size: s.kernel, Stride: stride}, out, x.rowDims(out), true), nil
}

func avgPool(c *call) (*value, error) {
	x, s, out, stride, err := pooling(c)
	if err != nil {
		return nil, err
	}
	return x.after(nn.AvgPool2D{Size: s.kernel, Stride: stride}, out, x.rowDims(out), true), nil
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

// pad is the padding by nothing that PyTorch writes before a pooling.
func pad(c *call) (*value, error) {
	pads := c.ints("pads", nil)
	k, err := c.weight(1)
	if err != nil {
		return nil, err
	}
	if k != nil {
		pads = k.ints()
	}
	for _, p := range pads {
		if p != 0 {
			return nil, fmt.Errorf("it pads by %v; only a convolution pads", pads)
		}
	}
	return identity(c)
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
