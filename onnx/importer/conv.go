package importer

import (
	"fmt"

	"utvi/nn"
)

func convolution(c *call) (*value, error) {
	x, zeros, err := c.padded()
	if err != nil {
		return nil, err
	}
	f, err := c.filters(x)
	if err != nil {
		return nil, err
	}
	s, err := c.window(x, zeros, f.weights.dims[2:])
	if err != nil {
		return nil, err
	}
	switch {
	case !f.fit(x.layer.shape.C) || f.kernel != s.kernel:
		return nil, fmt.Errorf("its weights have the size %v in %d groups; the input has %d channels", f.weights.dims, f.groups, x.layer.shape.C)
	case f.bias != nil && len(f.bias.data) != f.out:
		return nil, fmt.Errorf("its bias has the size %v for %d filters", f.bias.dims, f.out)
	}
	l, shape, err := laid(x.layer.shape, s)
	if err != nil {
		return nil, err
	}
	l.Out = f.out
	l.NoBias = f.bias == nil
	if f.groups > 1 {
		l.Groups = f.groups
	}
	shape.C = f.out
	tensors := [][]float64{f.channelsLast()}
	if f.bias != nil {
		tensors = append(tensors, f.bias.data)
	}
	return x.after(l, shape, x.rowDims(shape), true, tensors...), nil
}

// filters are the weights of a convolution, as the graph has them.
type filters struct {
	weights *constant
	bias    *constant // nil: none
	out     int       // filters
	groups  int
	own     int // channels of a group
	kernel  [2]int
}

func (c *call) filters(x *value) (*filters, error) {
	w, err := c.weight(1)
	if err != nil || w == nil || len(w.dims) != len(x.row())+1 {
		return nil, fmt.Errorf("its weights must be a constant with one dimension more than a row of its input, %v", x.row())
	}
	bias, err := c.weight(2)
	if err != nil {
		return nil, err
	}
	f := &filters{weights: w, bias: bias, out: w.dims[0], groups: c.int("group", 1), own: w.dims[1]}
	switch len(w.dims) {
	case 3: // along a line
		f.kernel = [2]int{1, w.dims[2]}
	case 4:
		f.kernel = [2]int{w.dims[2], w.dims[3]}
	}
	return f, nil
}

// fit reports whether the filters take so many channels.
func (f *filters) fit(channels int) bool {
	return f.groups >= 1 && f.out >= 1 && f.out%f.groups == 0 && f.own*f.groups == channels
}

// channelsLast are the weights from filters, channels, height, width to height, width, channels,
// filters.
func (f *filters) channelsLast() []float64 {
	data := make([]float64, len(f.weights.data))
	places := f.kernel[0] * f.kernel[1]
	for i, v := range f.weights.data {
		at, rest := i%places, i/places
		ch, o := rest%f.own, rest/f.own
		data[(at*f.own+ch)*f.out+o] = v
	}
	return data
}

// laid finds the layer whose windows lie as the node says.
func laid(in nn.Shape, s sides) (l nn.Conv2D, out nn.Shape, err error) {
	l.Kernel = s.kernel
	if in.H == 1 && s.kernel[0] == 1 && s.begin[0]+s.end[0] == 0 {
		s.stride[0] = s.stride[1] // of a line
	}
	if s.stride[0] == s.stride[1] {
		l.Stride = s.stride[0]
	} else {
		l.Strides = s.stride
	}
	if s.dilation != [2]int{1, 1} {
		l.Dilation = s.dilation
	}
	for i := range 2 {
		s.kernel[i] = (s.kernel[i]-1)*s.dilation[i] + 1
	}
	size := [2]int{in.H, in.W}
	places := s.places(size)
	out = nn.Shape{H: places[0], W: places[1]}
	l.Pad, err = s.pad(size, places)
	if err != nil || l.Pad == [4]int{} {
		return l, out, err
	}
	// Same pads half of (places−1)·stride + reach − size before the image.
	same := true
	for i := range 2 {
		total := max(0, (places[i]-1)*s.stride[i]+s.kernel[i]-size[i])
		same = same && places[i] == (size[i]-1)/s.stride[i]+1 && l.Pad[i] == total/2 && l.Pad[i+2] == total-total/2
	}
	if same {
		l.Padding, l.Pad = nn.Same, [4]int{}
	}
	return l, out, nil
}
