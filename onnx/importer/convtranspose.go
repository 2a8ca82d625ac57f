package importer

import (
	"fmt"

	"utvi/nn"
	"utvi/vi"
)

// transposedConvolution is a ConvTranspose.
func transposedConvolution(c *call) (*value, error) {
	x, err := c.image()
	if err != nil {
		return nil, err
	}
	f, err := c.filters(x)
	if err != nil {
		return nil, err
	}
	// Weights are input channels × output channels of a group × height × width here.
	in, own := f.out, f.own
	f.out = own * f.groups
	switch {
	case in != x.layer.shape.C || f.groups < 1 || in%f.groups != 0:
		return nil, fmt.Errorf("its weights have the size %v in %d groups; the input has %d channels", f.weights.dims, f.groups, x.layer.shape.C)
	case f.bias != nil && len(f.bias.data) != f.out:
		return nil, fmt.Errorf("its bias has the size %v for %d output channels", f.bias.dims, f.out)
	}
	l := nn.ConvTranspose2D{Out: f.out, Kernel: f.kernel, NoBias: f.bias == nil, Groups: f.groups}
	if f.groups == 1 {
		l.Groups = 0
	}
	err = c.transposedSides(x, &l)
	if err != nil {
		return nil, err
	}
	u, err := nn.Bind(nn.Layer(l), &nn.Binder[float32]{Params: &vi.Params[float32]{}, In: x.layer.shape})
	if err != nil {
		return nil, err
	}
	tensors := [][]float64{make([]float64, len(f.weights.data))}
	places := f.kernel[0] * f.kernel[1]
	for i, v := range f.weights.data {
		at, rest := i%places, i/places
		o, ch := rest%own, rest/own
		tensors[0][(at*own+o)*in+ch] = v
	}
	if f.bias != nil {
		tensors = append(tensors, f.bias.data)
	}
	return x.after(l, u.Out(), x.rowDims(u.Out()), true, tensors...), nil
}

// transposedSides reads strides, dilations and what is cut off.
func (c *call) transposedSides(x *value, l *nn.ConvTranspose2D) (err error) {
	var dilation [2]int
	for _, read := range []struct {
		to       *[2]int
		name     string
		standard int
	}{{&l.Strides, "strides", 1}, {&dilation, "dilations", 1}, {&l.OutputPad, "output_padding", 0}} {
		*read.to, err = x.twoSides(read.name, c.ints(read.name, nil), read.standard)
		if err != nil {
			return err
		}
	}
	if dilation != [2]int{1, 1} {
		l.Dilation = dilation
	}
	begin, end, err := c.pads(x)
	if err != nil {
		return err
	}
	auto := c.text("auto_pad", "NOTSET")
	size := [2]int{x.layer.shape.H, x.layer.shape.W}
	shape, err := x.twoSides("output_shape", c.ints("output_shape", nil), 0)
	if err != nil {
		return err
	}
	for i := range 2 {
		for _, n := range []int{l.Strides[i], dilation[i], l.Kernel[i]} {
			if n < 1 || n > mostCells {
				return fmt.Errorf("a kernel, stride or dilation is %d", n)
			}
		}
		full := (size[i]-1)*l.Strides[i] + l.OutputPad[i] + (l.Kernel[i]-1)*dilation[i] + 1
		switch {
		case shape[i] > 0:
			begin[i], end[i] = cutOff(full-shape[i], auto)
		case auto == "SAME_UPPER" || auto == "SAME_LOWER":
			begin[i], end[i] = cutOff(full-size[i]*l.Strides[i], auto)
		case auto != "NOTSET" && auto != "VALID":
			return fmt.Errorf("its padding is %.20q; NOTSET, VALID, SAME_UPPER and SAME_LOWER are taken", auto)
		}
		l.Pad[i], l.Pad[i+2] = begin[i], end[i]
	}
	if l.Strides[0] == l.Strides[1] {
		l.Stride, l.Strides = l.Strides[0], [2]int{}
	}
	return nil
}

// cutOff is what a total padding cuts off before and after a side.
func cutOff(total int, auto string) (begin, end int) {
	if auto == "SAME_UPPER" {
		return total / 2, total - total/2
	}
	return total - total/2, total / 2
}
