package importer

import (
	"fmt"
	"slices"

	"utvi/nn"
)

// borders are the modes of Pad whose cells come from the image.
var borders = map[string]nn.Border{"edge": nn.Edge, "reflect": nn.Reflect}

// pad surrounds an image with zeros, which the convolution or average behind it takes, or with other
// cells, which are a layer.
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
	fill, err := c.fill()
	if err != nil {
		return nil, err
	}
	x, err := c.given()
	if err != nil {
		return nil, err
	}
	if x.flatRow() && len(pads) == 4 {
		return c.padFlat(x, pads, fill)
	}
	x, err = c.image()
	if err != nil {
		return nil, err
	}
	if err := c.checkPad(x, pads); err != nil {
		return nil, err
	}
	s, err := around(x, pads)
	if err != nil {
		return nil, err
	}
	if border, ok := borders[c.text("mode", "constant")]; ok {
		return x.surrounded(s, border)
	}
	if fill != 0 {
		return x.surroundedBy(s, fill)
	}
	out := *x
	out.zeros = &s
	out.bare = x
	return &out, nil
}

// padFlat surrounds a flat row, as a line of one channel.
func (c *call) padFlat(x *value, pads []int, fill float64) (*value, error) {
	x, err := x.inOrder()
	if err != nil {
		return nil, err
	}
	n := x.layer.shape.Size()
	line, err := x.arranged([3]axis{nil, x.at.all(), nil})
	if err != nil {
		return nil, err
	}
	line, err = line.sized([]int{batch, 1, n})
	if err != nil {
		return nil, err
	}
	s, err := around(line, []int{pads[0], 0, pads[1], pads[2], 0, pads[3]})
	if err != nil {
		return nil, err
	}
	var out *value
	switch border := borders[c.text("mode", "constant")]; {
	case fill != 0:
		out, err = line.surroundedBy(s, fill)
	default:
		out, err = line.surrounded(s, border)
	}
	if err != nil {
		return nil, err
	}
	return out.sized([]int{batch, n + s.begin[1] + s.end[1]})
}

// fill is the number that Pad surrounds an image with.
func (c *call) fill() (float64, error) {
	switch mode := c.text("mode", "constant"); {
	case borders[mode] != "":
		return 0, nil
	case mode != "constant":
		return 0, fmt.Errorf("its mode is %.20q; constant, edge and reflect are taken", mode)
	}
	k, err := c.weight(2)
	switch {
	case err != nil:
		return 0, err
	case k == nil:
		return c.float("value", 0), nil
	case !k.scalar():
		return 0, fmt.Errorf("it surrounds its input with the numbers %v; one number is taken", k.data)
	}
	return k.data[0], nil
}

// surrounded is an image with cells around it.
func (v *value) surrounded(s sides, border nn.Border) (*value, error) {
	l := nn.Pad2D{Pad: [4]int{s.begin[0], s.begin[1], s.end[0], s.end[1]}, Border: border}
	at := v.layer.shape
	shape := nn.Shape{H: at.H + s.begin[0] + s.end[0], W: at.W + s.begin[1] + s.end[1], C: at.C}
	if !fits(shape) {
		return nil, fmt.Errorf("its output would be %d×%d×%d; at most %d numbers are allowed", shape.H, shape.W, shape.C, mostInputs)
	}
	w := *v
	w.bare = v
	w.zeros = &s
	return v.after(l, shape, w.paddedRow(), true), nil
}

// surroundedBy is an image with a number around it.
func (v *value) surroundedBy(s sides, fill float64) (*value, error) {
	number := decimal(fill)
	less, err := v.of(func(x string) string { return "(" + x + " - " + number + ")" })
	if err != nil {
		return nil, err
	}
	less, err = less.settle()
	if err != nil {
		return nil, err
	}
	out, err := less.surrounded(s, nn.Zeros)
	if err != nil {
		return nil, err
	}
	return out.of(func(x string) string { return "(" + x + " + " + number + ")" })
}

// paddedRow are the dimensions of a row with the zeros around it.
func (v *value) paddedRow() []int {
	dims := slices.Clone(v.bare.row())
	for i := range dims[1:] {
		at := i + 3 - len(dims)
		dims[1+i] += v.zeros.begin[at] + v.zeros.end[at]
	}
	return dims
}

// checkPad refuses what is not around an image or a line.
func (c *call) checkPad(x *value, pads []int) error {
	n := len(x.row()) + 1
	if len(c.in) > 3 && c.in[3] != nil || len(pads) != 2*n || !x.first() || n < 3 {
		return fmt.Errorf("it pads by %v; only images and lines with the channels first can be padded, with two numbers for each dimension", pads)
	}
	return nil
}

// around are the pads of height and width; rows and channels have none.
func around(x *value, pads []int) (s sides, err error) {
	n := len(x.row()) + 1
	for i, p := range pads {
		at := i%n - 2 + 4 - n // 0 is the height, 1 the width
		switch {
		case p < 0 || p > mostCells || p > 0 && i%n < 2:
			return s, fmt.Errorf("it pads by %v; only the height and the width can be padded, by numbers ≥ 0", pads)
		case p > 0 && i < n:
			s.begin[at] = p
		case p > 0:
			s.end[at] = p
		}
	}
	return s, nil
}

// padded is the first input without the zeros that surround it, and these.
func (c *call) padded() (x *value, zeros sides, err error) {
	if len(c.in) > 0 && c.in[0] != nil && c.in[0].zeros != nil {
		return c.in[0].bare, *c.in[0].zeros, nil
	}
	x, err = c.image()
	return x, sides{}, err
}

// unpadded gives an operator that takes no padding an image with the zeros as cells.
func (c *call) unpadded(o operator) error {
	for i, v := range c.in {
		takes := i == 0 && o.padded
		if v == nil || v.zeros == nil || takes {
			continue
		}
		var err error
		c.in[i], err = v.bare.surrounded(*v.zeros, nn.Zeros)
		if err != nil {
			return err
		}
	}
	return nil
}
