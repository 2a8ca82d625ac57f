package importer

import (
	"fmt"

	"utvi/nn"
)

// A pooling is a window that moves over an image.
type pooling struct {
	sides
	out    nn.Shape
	stride int // 0: windows side by side
	pad    [4]int
	beyond bool // windows reach over the border by ceil_mode, where no padding is
}

// pooling reads a window.
func (c *call) pooling(x *value, zeros sides) (p pooling, err error) {
	p.sides, err = c.window(x, zeros, nil)
	if err != nil {
		return p, err
	}
	if p.sides.stride != p.kernel {
		p.stride = p.sides.stride[1]
		if p.sides.stride[0] != p.sides.stride[1] && x.layer.shape.H > 1 {
			return p, fmt.Errorf("its strides are %v; they must be equal, or those of the window", p.sides.stride)
		}
	}
	if p.dilation != [2]int{1, 1} {
		return p, fmt.Errorf("its dilations are %v; they must be 1", p.dilation)
	}
	size := [2]int{x.layer.shape.H, x.layer.shape.W}
	places := p.places(size)
	for i := range 2 {
		step := p.sides.stride[i]
		rest := (size[i] + p.begin[i] + p.end[i] - p.kernel[i]) % step
		// A last window that reaches over the border must begin before it.
		if c.int("ceil_mode", 0) != 0 && rest != 0 && places[i]*step < size[i]+p.begin[i] {
			places[i]++
			p.beyond = true
		}
	}
	p.out = nn.Shape{H: places[0], W: places[1], C: x.layer.shape.C}
	p.pad, err = p.sides.pad(size, places)
	return p, err
}

func maxPool(c *call) (*value, error) {
	x, err := c.image()
	if err != nil {
		return nil, err
	}
	p, err := c.pooling(x, sides{})
	if err != nil {
		return nil, err
	}
	return x.after(nn.MaxPool2D{Size: p.kernel, Stride: p.stride, Pad: p.pad}, p.out, x.rowDims(p.out), true), nil
}

func avgPool(c *call) (*value, error) {
	x, zeros, err := c.padded()
	if err != nil {
		return nil, err
	}
	p, err := c.pooling(x, zeros)
	if err != nil {
		return nil, err
	}
	l := nn.AvgPool2D{Size: p.kernel, Stride: p.stride, Pad: p.pad}
	includes := c.int("count_include_pad", 0) != 0
	counts := zeros != sides{} || includes
	inside := p.beyond || p.begin != zeros.begin || p.end != zeros.end // cells that count_include_pad is about
	switch {
	case p.pad == [4]int{} || p.begin == [2]int{} && p.end == [2]int{}:
	case counts && p.beyond, zeros != sides{} && inside && !includes:
		return nil, fmt.Errorf("some cells outside of the image count in its averages and some do not; use ceil_mode = 0 and one padding")
	default:
		l.CountPad = counts
	}
	return x.after(l, p.out, x.rowDims(p.out), true), nil
}

func globalPool(c *call) (*value, error) {
	x, err := c.image()
	if err != nil {
		return nil, err
	}
	size, out := [2]int{x.layer.shape.H, x.layer.shape.W}, nn.Vec(x.layer.shape.C)
	var l nn.Layer = nn.AvgPool2D{Size: size}
	if c.op == "GlobalMaxPool" {
		l = nn.MaxPool2D{Size: size}
	}
	return x.after(l, out, x.rowDims(out), true), nil
}
