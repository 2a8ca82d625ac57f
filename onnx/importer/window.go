package importer

import (
	"fmt"
)

// sides reads kernel, strides, dilations and pads of a window over an image or a line.
type sides struct {
	kernel, stride, dilation [2]int
	begin, end               [2]int // padding
}

// mostCells bounds each number of a window.
const mostCells = 1 << 20

// window reads the sides of a node whose input has additional zeros around it.
func (c *call) window(v *value, zeros sides, kernel []int) (s sides, err error) {
	if !v.first() || len(v.row()) < 2 {
		return s, fmt.Errorf("its input must be an image or a line with the channels first; a row has the size %v", v.row())
	}
	for _, read := range []struct {
		to       *[2]int
		name     string
		numbers  []int
		standard int
	}{
		{&s.kernel, "kernel sizes", c.ints("kernel_shape", kernel), 1},
		{&s.stride, "strides", c.ints("strides", nil), 1},
		{&s.dilation, "dilations", c.ints("dilations", nil), 1},
	} {
		*read.to, err = v.twoSides(read.name, read.numbers, read.standard)
		if err != nil {
			return s, err
		}
	}
	s.begin, s.end, err = c.pads(v)
	if err != nil {
		return s, err
	}
	size := [2]int{v.layer.shape.H, v.layer.shape.W}
	for i := range 2 {
		if err := s.fit(i, size[i], zeros, c.text("auto_pad", "NOTSET")); err != nil {
			return s, err
		}
	}
	return s, nil
}

// twoSides are numbers for the height and the width; of a line, the height is 1.
func (v *value) twoSides(name string, x []int, standard int) ([2]int, error) {
	line := len(v.row()) == 2
	switch {
	case x == nil:
		return [2]int{standard, standard}, nil
	case line && len(x) == 1:
		return [2]int{standard, x[0]}, nil
	case !line && len(x) == 2:
		return [2]int{x[0], x[1]}, nil
	}
	return [2]int{}, fmt.Errorf("its %s are %v; the input has %d dimensions besides rows and channels", name, x, len(v.row())-1)
}

// pads are the zeros before and after each side.
func (c *call) pads(v *value) (begin, end [2]int, err error) {
	pads := c.ints("pads", nil)
	n := len(v.row()) - 1
	switch {
	case pads == nil:
		return begin, end, nil
	case len(pads) != 2*n:
		return begin, end, fmt.Errorf("its pads are %v", pads)
	}
	for _, p := range pads {
		if p < 0 || p > mostCells {
			return begin, end, fmt.Errorf("its pads are %v; they must be ≥ 0", pads)
		}
	}
	begin, err = v.twoSides("pads", pads[:n], 0)
	if err != nil {
		return begin, end, err
	}
	end, err = v.twoSides("pads", pads[n:], 0)
	return begin, end, err
}

// fit checks one side of a window over so many cells, and adds the padding that auto_pad asks for
// and the zeros that are already there.
func (s *sides) fit(i, size int, zeros sides, auto string) error {
	for _, x := range []int{s.kernel[i], s.stride[i], s.dilation[i]} {
		if x < 1 || x > mostCells {
			return fmt.Errorf("a kernel, stride or dilation is %d", x)
		}
	}
	reach := (s.kernel[i]-1)*s.dilation[i] + 1
	total := s.sameTotal(i, reach, size+zeros.begin[i]+zeros.end[i])
	switch auto {
	case "NOTSET", "VALID":
	case "SAME_UPPER":
		s.begin[i] = total / 2
		s.end[i] = total - total/2
	case "SAME_LOWER":
		s.begin[i] = total - total/2
		s.end[i] = total / 2
	default:
		return fmt.Errorf("its padding is %.20q; NOTSET, VALID, SAME_UPPER and SAME_LOWER are taken", auto)
	}
	s.begin[i] += zeros.begin[i]
	s.end[i] += zeros.end[i]
	if cells := size + s.begin[i] + s.end[i]; reach > cells {
		return fmt.Errorf("its kernel reaches over %d cells; the image has %d", reach, cells)
	}
	return nil
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
