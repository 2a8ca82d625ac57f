package importer

import (
	"fmt"
	"slices"

	"utvi/nn"
)

// flat is v as a vector here, for what follows the order of its units.
func (v *value) flat() *value {
	n := v.layer.shape.Size()
	if v.layer.shape == nn.Vec(n) {
		return v
	}
	return v.then(nn.Flatten{}, nn.Vec(n), v.at)
}

func flatten(c *call) (*value, error) {
	x, err := c.given()
	if err != nil {
		return nil, err
	}
	axis := c.int("axis", 1)
	if axis < 0 {
		axis += len(x.at)
	}
	if axis < 0 || axis > len(x.at) {
		return nil, fmt.Errorf("its axis is %d; its input has %d dimensions", axis, len(x.at))
	}
	return x.sized([]int{x.at[:axis].all().size(), x.at[axis:].all().size()})
}

func reshape(c *call) (*value, error) {
	x, err := c.given()
	if err != nil {
		return nil, err
	}
	to := slices.Clone(c.ints("shape", nil)) // of old files
	if k, err := c.weight(1); err != nil {
		return nil, err
	} else if k != nil {
		to = k.ints()
	}
	dims := x.at.dims()
	for i, d := range to {
		if d == 0 && i < len(dims) && c.int("allowzero", 0) == 0 {
			to[i] = dims[i]
		}
	}
	x.oneRow(to)
	if !slices.ContainsFunc(to, func(d int) bool { return d < 0 || d > 0 && d%batch == 0 }) {
		return nil, fmt.Errorf("the size %v fixes the number of rows, or mixes rows; export the network with rows of any number", to)
	}
	total := 0
	for _, d := range to {
		if d < 0 {
			total++
		}
	}
	// Where −1 must be the rows, the sizes beside it say how large a row is.
	if total == 1 && !slices.ContainsFunc(to, func(d int) bool { return d > 0 && d%batch == 0 }) {
		rest := 1
		for _, d := range to {
			if d > 0 && rest < 1<<31 {
				rest *= d
			}
		}
		if n := x.layer.shape.Size(); n%rest != 0 {
			return nil, fmt.Errorf("%d elements cannot take the size %v", n, to[1:])
		}
	}
	full, err := resolve(dims, to)
	if err != nil {
		return nil, err
	}
	return x.sized(full)
}

// oneRow makes rows of a leading 1: a graph that was written for one row at a time has such sizes.
func (v *value) oneRow(to []int) {
	if len(to) < 2 || to[0] != 1 || !v.at.rowsFirst() {
		return
	}
	rest := 1
	open := false
	for _, d := range to[1:] {
		switch {
		case d < 0:
			open = true
		case d%batch == 0 || rest > 1<<31:
			return
		default:
			rest *= d
		}
	}
	n := v.layer.shape.Size()
	if n == rest || open && rest > 0 && n%rest == 0 {
		to[0] = batch
	}
}

// sized gives v other dimensions, those of the rows among them. The rows of an input are what the
// graph takes them for, if that is an image.
func (v *value) sized(dims []int) (*value, error) {
	w := *v
	at, ok := v.at.regroup(dims)
	if !ok {
		plain, err := v.inOrder()
		if err != nil {
			return nil, err
		}
		w = *plain
		at, ok = w.at.regroup(dims)
	}
	if !ok {
		return nil, fmt.Errorf("the dimensions %v cannot become %v", v.named(), dims)
	}
	w.at = at
	return w.asImage(), nil
}

// asImage gives an input that is a vector the shape of the image that the graph makes of it, where
// the order of its numbers stays.
func (v *value) asImage() *value {
	l := v.layer
	if !l.input() || v.text != "" || l.shape != nn.Vec(l.shape.C) || !v.at.rowsFirst() || len(v.at) < 3 || len(v.at) > 4 {
		return v
	}
	shape := channelsFirst(v.row())
	if shape.C > 1 || l.used {
		return v
	}
	l.shape = shape
	return v
}

// inOrder is v with its units in the order of the graph.
func (v *value) inOrder() (*value, error) {
	x, err := v.settle()
	if err != nil {
		return nil, err
	}
	return x.arranged([3]axis{nil, nil, x.at.all()})
}

func squeeze(c *call) (*value, error) {
	x, err := c.given()
	if err != nil {
		return nil, err
	}
	axes, err := c.axes()
	if err != nil {
		return nil, err
	}
	all := &constant{dims: x.at.dims()}
	change := all.squeeze
	if c.op == "Unsqueeze" {
		change = all.unsqueeze
	}
	to, err := change(axes)
	if err != nil {
		return nil, err
	}
	return x.sized(to.dims)
}

// axes are the dimensions that a node names: an attribute in old files, an input in others.
func (c *call) axes() ([]int, error) {
	k, err := c.weight(1)
	if err != nil || k == nil {
		return c.ints("axes", nil), err
	}
	return k.ints(), nil
}

// transpose puts the dimensions into another order.
func transpose(c *call) (*value, error) {
	x, err := c.given()
	if err != nil {
		return nil, err
	}
	n := len(x.at)
	perm := c.ints("perm", nil)
	if perm == nil {
		for i := range n {
			perm = append(perm, n-1-i)
		}
	}
	if !isPermutation(perm, n) {
		return nil, fmt.Errorf("its order %v does not name each of the %d dimensions of its input once", perm, n)
	}
	w := *x
	w.at = make(layout, n)
	for i, p := range perm {
		w.at[i] = x.at[p]
	}
	return &w, nil
}

// shapeOf is the size of a value, with the number of rows open.
func shapeOf(c *call) (*value, error) {
	if len(c.in) == 0 || c.in[0] == nil {
		return nil, fmt.Errorf("it has no input")
	}
	dims := []int{}
	switch v := c.in[0]; {
	case v.constant != nil:
		dims = v.constant.dims
	case v.zeros != nil:
		dims = append(dims, batch)
		dims = append(dims, v.paddedRow()...)
	default:
		dims = v.at.dims()
	}
	lo, hi := c.int("start", 0), c.int("end", len(dims))
	if lo < 0 {
		lo += len(dims)
	}
	if hi < 0 {
		hi += len(dims)
	}
	lo = max(0, min(lo, len(dims)))
	dims = dims[lo:max(lo, min(hi, len(dims)))]
	out := &constant{dims: []int{len(dims)}, whole: true}
	for _, d := range dims {
		out.data = append(out.data, float64(d))
	}
	return &value{constant: out}, nil
}

// depthToSpace and its reverse move blocks of pixels to channels and back.
func depthToSpace(c *call) (*value, error) {
	x, err := c.given()
	if err != nil {
		return nil, err
	}
	b := c.int("blocksize", 1)
	dims := x.at.dims()
	if len(dims) != 4 || b < 1 || b > mostCells {
		return nil, fmt.Errorf("its input has the dimensions %v and its blocks have the size %d; it needs images with the channels first", x.named(), b)
	}
	n, ch := dims[0], dims[1]
	h, w := dims[2], dims[3]
	var apart, perm, out []int
	switch {
	case c.op == "SpaceToDepth":
		apart = []int{n, ch, h / b, b, w / b, b}
		perm = []int{0, 3, 5, 1, 2, 4}
		out = []int{n, ch * b * b, h / b, w / b}
	case c.text("mode", "DCR") == "CRD":
		apart = []int{n, ch / b / b, b, b, h, w}
		perm = []int{0, 1, 4, 2, 5, 3}
	default:
		apart = []int{n, b, b, ch / b / b, h, w}
		perm = []int{0, 3, 4, 1, 5, 2}
	}
	if out == nil {
		out = []int{n, ch / b / b, h * b, w * b}
	}
	if size(apart) != size(dims) || size(out) != size(dims) {
		return nil, fmt.Errorf("its blocks of %d do not divide the dimensions %v", b, x.named())
	}
	y, err := x.sized(apart)
	if err != nil {
		return nil, err
	}
	z := *y
	z.at = make(layout, len(perm))
	for i, p := range perm {
		z.at[i] = y.at[p]
	}
	return z.sized(out)
}
