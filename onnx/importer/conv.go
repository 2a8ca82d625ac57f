package importer

import (
	"fmt"

	"utvi/nn"
)

// convolution writes out groups and dilations as zeros in the kernel. Such a layer stays
// one of numbers, whatever the options, because Normals in the place of those zeros would be
// another network.
func convolution(c *call) (*value, error) {
	x, zeros, err := c.padded()
	if err != nil {
		return nil, err
	}
	w, err := c.weight(1)
	if err != nil || w == nil || len(w.dims) != len(x.dims)+1 {
		return nil, fmt.Errorf("its weights must be a constant with one dimension more than a row of its input, %v", x.dims)
	}
	bias, err := c.weight(2)
	if err != nil {
		return nil, err
	}
	s, err := c.window(x, zeros, w.dims[2:])
	if err != nil {
		return nil, err
	}
	out, group := w.dims[0], c.int("group", 1)
	own := w.dims[1] // channels of a group
	kernel := w.dims[2:]
	if len(kernel) == 1 {
		kernel = []int{1, kernel[0]}
	}
	switch {
	case group < 1 || out < 1 || out%group != 0 || own*group != x.shape.C || [2]int(kernel) != s.kernel:
		return nil, fmt.Errorf("its weights have the size %v in %d groups; the input has %d channels", w.dims, group, x.shape.C)
	case s.stride[0] != s.stride[1] && x.shape.H > 1:
		return nil, fmt.Errorf("its strides are %v; they must be equal", s.stride)
	case bias != nil && len(bias.data) != out:
		return nil, fmt.Errorf("its bias has the size %v for %d filters", bias.dims, out)
	}
	stride := s.stride[1]
	l, shape, err := laid(x.shape, s, stride)
	if err != nil {
		return nil, err
	}
	l.Out = out
	l.NoBias = bias == nil
	shape.C = out
	l.Fixed = group > 1 || s.dilation != [2]int{1, 1}
	if l.Kernel[0] > maxWeights/l.Kernel[1]/x.shape.C/out {
		return nil, fmt.Errorf("its kernel, written out, has %v × %d × %d weights; at most %d are allowed", l.Kernel, x.shape.C, out, maxWeights)
	}
	// From filters, channels, height, width to height, width, channels, filters.
	data := make([]float64, l.Kernel[0]*l.Kernel[1]*x.shape.C*out)
	for i, v := range w.data {
		kx, rest := i%kernel[1], i/kernel[1]
		ky, rest := rest%kernel[0], rest/kernel[0]
		ch, o := rest%own, rest/own
		at := ky*s.dilation[0]*l.Kernel[1] + kx*s.dilation[1]
		data[(at*x.shape.C+o/(out/group)*own+ch)*out+o] = v
	}
	tensors := [][]float64{data}
	if bias != nil {
		tensors = append(tensors, bias.data)
	}
	return x.after(l, shape, x.rowDims(shape), true, tensors...), nil
}

// laid finds the layer whose windows lie as the node says.
func laid(in nn.Shape, s sides, stride int) (l nn.Conv2D, out nn.Shape, err error) {
	l.Stride = stride
	for i := range 2 {
		l.Kernel[i] = (s.kernel[i]-1)*s.dilation[i] + 1
	}
	s.kernel, s.stride = l.Kernel, [2]int{stride, stride}
	size := [2]int{in.H, in.W}
	places := s.places(size)
	out = nn.Shape{H: places[0], W: places[1]}
	l.Pad, err = s.pad(size, places)
	if err != nil || l.Pad == [4]int{} {
		return l, out, err
	}
	// Same pads half of (places−1)·stride + kernel − size before the image.
	same := true
	for i := range 2 {
		total := max(0, (places[i]-1)*stride+l.Kernel[i]-size[i])
		same = same && places[i] == (size[i]-1)/stride+1 && l.Pad[i] == total/2 && l.Pad[i+2] == total-total/2
	}
	if same {
		l.Padding, l.Pad = nn.Same, [4]int{}
	}
	return l, out, nil
}
