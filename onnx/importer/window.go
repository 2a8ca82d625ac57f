package importer

import (
	"fmt"
	"slices"
)

// sides reads kernel, strides, dilations and pads of a window over an image or a line.
type sides struct {
	kernel, stride, dilation [2]int
	begin, end               [2]int // padding
}

// window reads the sides of a node whose input has additional zeros around it.
func (c *call) window(v *value, zeros sides, kernel []int) (sides, error) {
	line := len(v.dims) == 2
	two := func(name string, x []int, standard int) ([2]int, error) {
		switch {
		case x == nil:
			return [2]int{standard, standard}, nil
		case line && len(x) == 1:
			return [2]int{standard, x[0]}, nil
		case !line && len(x) == 2:
			return [2]int{x[0], x[1]}, nil
		}
		return [2]int{}, fmt.Errorf("its %s are %v; the input has %d dimensions besides rows and channels", name, x, len(v.dims)-1)
	}
	var s sides
	var err error
	if !v.first || len(v.dims) < 2 {
		return s, fmt.Errorf("its input must be an image or a line with the channels first; a row has the size %v", v.dims)
	}
	s.kernel, err = two("kernel sizes", c.ints("kernel_shape", kernel), 1)
	if err != nil {
		return s, err
	}
	s.stride, err = two("strides", c.ints("strides", nil), 1)
	if err != nil {
		return s, err
	}
	s.dilation, err = two("dilations", c.ints("dilations", nil), 1)
	if err != nil {
		return s, err
	}
	pads := c.ints("pads", nil)
	if n := len(v.dims) - 1; pads != nil && len(pads) == 2*n {
		s.begin, err = two("pads", pads[:n], 0)
		if err == nil {
			s.end, err = two("pads", pads[n:], 0)
		}
	} else if pads != nil {
		err = fmt.Errorf("its pads are %v", pads)
	}
	if err != nil {
		return s, err
	}
	size := [2]int{v.shape.H, v.shape.W}
	for i := range 2 {
		for _, x := range []int{s.kernel[i], s.stride[i], s.dilation[i]} {
			if x < 1 || x > 1<<20 {
				return s, fmt.Errorf("a kernel, stride or dilation is %d", x)
			}
		}
		if s.begin[i] < 0 || s.end[i] < 0 || s.begin[i] > 1<<20 || s.end[i] > 1<<20 {
			return s, fmt.Errorf("its pads are %v; they must be ≥ 0", pads)
		}
		reach := (s.kernel[i]-1)*s.dilation[i] + 1
		switch auto := c.text("auto_pad", "NOTSET"); auto {
		case "NOTSET", "VALID":
		case "SAME_UPPER":
			total := s.sameTotal(i, reach, size[i]+zeros.begin[i]+zeros.end[i])
			s.begin[i], s.end[i] = total/2, total-total/2
		case "SAME_LOWER":
			total := s.sameTotal(i, reach, size[i]+zeros.begin[i]+zeros.end[i])
			s.begin[i], s.end[i] = total-total/2, total/2
		default:
			return s, fmt.Errorf("its padding is %.20q; NOTSET, VALID, SAME_UPPER and SAME_LOWER are taken", auto)
		}
		s.begin[i], s.end[i] = s.begin[i]+zeros.begin[i], s.end[i]+zeros.end[i]
		if reach > size[i]+s.begin[i]+s.end[i] {
			return s, fmt.Errorf("its kernel reaches over %d cells; the image has %d", reach, size[i]+s.begin[i]+s.end[i])
		}
	}
	return s, nil
}

// sameTotal is the padding that leaves size/stride places, rounded up.
func (s sides) sameTotal(i, reach, size int) int {
	return max(0, ((size-1)/s.stride[i])*s.stride[i]+reach-size)
}

// places are the places of the window, which must not be dilated.
func (s sides) places(size [2]int) (n [2]int) {
	for i := range n {
		n[i] = (size[i]+s.begin[i]+s.end[i]-s.kernel[i])/s.stride[i] + 1
	}
	return n
}

// pad is the padding above, left, below and right that the window reaches at its places.
func (s sides) pad(size, places [2]int) (pad [4]int, err error) {
	for i := range 2 {
		pad[i], pad[i+2] = s.begin[i], max(0, (places[i]-1)*s.stride[i]+s.kernel[i]-size[i]-s.begin[i])
		if max(pad[i], pad[i+2]) >= s.kernel[i] {
			return pad, fmt.Errorf("it pads by %v before and %v after an image of %v; a padding must be smaller than the window, %v", s.begin, s.end, size, s.kernel)
		}
	}
	return pad, nil
}

// pad surrounds an image with zeros; the convolution or average behind it takes them.
func pad(c *call) (*value, error) {
	pads := c.ints("pads", nil)
	k, err := c.weight(1)
	if err != nil {
		return nil, err
	}
	if k != nil {
		pads = k.ints()
	}
	if !slices.ContainsFunc(pads, func(p int) bool { return p != 0 }) {
		return identity(c) // which PyTorch writes before a pooling
	}
	x, err := c.x()
	if err != nil {
		return nil, err
	}
	fill, err := c.weight(2)
	n := len(x.dims) + 1
	switch {
	case err != nil:
		return nil, err
	case c.text("mode", "constant") != "constant" || fill != nil && (!fill.scalar() || fill.data[0] != 0) || c.float("value", 0) != 0:
		return nil, fmt.Errorf("it does not pad with zeros; only zeros are taken")
	case len(c.in) > 3 && c.in[3] != nil, len(pads) != 2*n, !x.first, n < 3:
		return nil, fmt.Errorf("it pads by %v; only images and lines with the channels first can be padded, with two numbers for each dimension", pads)
	}
	var s sides
	for i, p := range pads {
		at := i%n - 2 + 4 - n // 0 is the height, 1 the width
		switch {
		case p < 0 || p > 1<<20 || p > 0 && i%n < 2:
			return nil, fmt.Errorf("it pads by %v; only the height and the width can be padded, by numbers ≥ 0", pads)
		case p > 0 && i < n:
			s.begin[at] = p
		case p > 0:
			s.end[at] = p
		}
	}
	out := *x
	out.zeros, out.bare = &s, x
	out.dims = slices.Clone(x.dims)
	for i := range out.dims[1:] {
		at := i + 3 - len(x.dims)
		out.dims[1+i] += s.begin[at] + s.end[at]
	}
	return &out, nil
}

// padded is the first input without the zeros that surround it, and these.
func (c *call) padded() (x *value, zeros sides, err error) {
	if len(c.in) > 0 && c.in[0] != nil && c.in[0].zeros != nil {
		return c.in[0].bare, *c.in[0].zeros, nil
	}
	x, err = c.x()
	return x, sides{}, err
}

// unpadded reports an operator that gets a padded image and cannot take it.
func (c *call) unpadded() error {
	for i, v := range c.in {
		takes := i == 0 && slices.Contains([]string{"Conv", "AveragePool", "Shape", "Identity", "Cast", "Dropout"}, c.op)
		if v != nil && v.zeros != nil && !takes {
			return fmt.Errorf("its input is padded with zeros; only a convolution and an average pooling take padding")
		}
	}
	return nil
}
