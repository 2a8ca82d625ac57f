package importer

import (
	"fmt"
	"slices"

	"utvi/nn"
)

// flatten makes the rows of v flat. A layer is needed only for images.
func (v *value) flat() *value {
	n := v.shape.Size()
	if v.flatRow() {
		return v
	}
	w := v
	if v.shape != nn.Vec(n) {
		w = v.after(nn.Flatten{}, nn.Vec(n), []int{n}, false)
	}
	out := *w
	out.dims, out.first = []int{n}, false
	s := v.shape
	if v.first && s.C > 1 && s.H*s.W > 1 {
		out.order = make([]int, n)
		for i := range out.order {
			c, at := i/(s.H*s.W), i%(s.H*s.W)
			out.order[i] = at*s.C + c
		}
	}
	return &out
}

func flatten(c *call) (*value, error) {
	x, err := c.x()
	if err != nil {
		return nil, err
	}
	if axis := c.int("axis", 1); axis != 1 && axis != -len(x.dims) {
		return nil, fmt.Errorf("its axis is %d; it must be 1, so that rows stay rows", axis)
	}
	return x.flat(), nil
}

func reshape(c *call) (*value, error) {
	x, err := c.x()
	if err != nil {
		return nil, err
	}
	to := c.ints("shape", nil) // of old files
	if k, err := c.weight(1); err != nil {
		return nil, err
	} else if k != nil {
		to = k.ints()
		if len(k.data) > 0 && k.data[0] == batch {
			to[0] = 0
		}
	}
	if len(to) == 1 && to[0] <= 0 && x.shape.Size() == 1 {
		return x.bareNumber(), nil
	}
	if len(to) < 2 {
		return nil, fmt.Errorf("the size %v has no rows", to)
	}
	return x.sized(to)
}

// sized gives rows other dimensions; to includes that of the rows.
func (v *value) sized(to []int) (*value, error) {
	dims, err := v.newDims(to)
	if err != nil {
		return nil, err
	}
	shape := channelsFirst(dims)
	onePlace := shape.H*shape.W == 1
	larger := slices.DeleteFunc(slices.Clone(dims), func(d int) bool { return d <= 1 })
	switch {
	case slices.Equal(dims, v.dims):
		return v, nil
	case len(dims) == 1:
		return v.flat(), nil
	case v.input && v.prev == nil && len(dims) <= 3:
		// The rows of the input are what the graph takes them for, if their order stays.
		if v.flatRow() && (shape.C == 1 || onePlace) {
			return &value{input: true, dims: dims, shape: shape, first: true}, nil
		}
	case len(dims) <= 3 && v.shape.H*v.shape.W == 1 && shape == v.shape:
		return v.withDims(dims), nil
	case len(larger) <= 1 && onePlace:
		return v.flat().withDims(dims), nil
	}
	return nil, fmt.Errorf("rows of the size %v cannot become %v; rows can be made flat, or images of one channel at the input", v.dims, dims)
}

// withDims is v, whose rows have other dimensions, the channels first.
func (v *value) withDims(dims []int) *value {
	w := *v
	w.dims = dims
	w.first = true
	return &w
}

// newDims are the dimensions of a row that a new size asks for.
func (v *value) newDims(to []int) ([]int, error) {
	n := v.shape.Size()
	rest := slices.Clone(to[1:])
	if to[0] > 0 && !slices.Contains(rest, -1) && size(rest) != n {
		return nil, fmt.Errorf("the size %v fixes the number of rows, or mixes rows; export the network with rows of any number", to)
	}
	for i, d := range rest {
		if d == 0 && i < len(v.dims) {
			rest[i] = v.dims[i]
		}
	}
	return resolve([]int{n}, rest)
}

func squeeze(c *call) (*value, error) {
	x, err := c.x()
	if err != nil {
		return nil, err
	}
	axes, err := c.axes()
	if err != nil {
		return nil, err
	}
	all := &constant{dims: append([]int{-7}, x.dims...)} // rows are no 1
	change := all.squeeze
	if c.op == "Unsqueeze" {
		change = all.unsqueeze
	}
	to, err := change(axes)
	if err != nil {
		return nil, err
	}
	if to.dims[0] != -7 {
		return nil, fmt.Errorf("it changes the dimension of the rows")
	}
	to.dims[0] = 0
	if len(to.dims) < 2 {
		return x.bareNumber(), nil
	}
	return x.sized(to.dims)
}

// bareNumber is v, of which a row is one number, without any dimension besides the rows, as
// regressors in PyTorch often end.
func (v *value) bareNumber() *value {
	w := *v.flat()
	w.dims = nil
	return &w
}

// axes are the dimensions that a node names: an attribute in old files, an input in others.
func (c *call) axes() ([]int, error) {
	k, err := c.weight(1)
	if err != nil || k == nil {
		return c.ints("axes", nil), err
	}
	return k.ints(), nil
}

// transpose turns images with the channels first into images with the channels last, or
// back.
func transpose(c *call) (*value, error) {
	x, err := c.x()
	if err != nil {
		return nil, err
	}
	perm := c.ints("perm", nil)
	n := len(x.dims) + 1
	toFirst, toLast := []int{0, n - 1}, []int{0}
	for i := 1; i < n-1; i++ {
		toFirst = append(toFirst, i)
	}
	for i := 2; i < n; i++ {
		toLast = append(toLast, i)
	}
	toLast = append(toLast, 1)
	dims := make([]int, 0, n-1)
	if !isPermutation(perm, n) || perm[0] != 0 {
		return nil, fmt.Errorf("its order %v moves rows, or is none", perm)
	}
	for _, p := range perm[1:] {
		dims = append(dims, x.dims[p-1])
	}
	w := *x
	w.dims = dims
	switch {
	case n < 3 || slices.IsSorted(perm):
		return &w, nil
	case slices.Equal(perm, toFirst) && !x.first:
		w.first = true
		return &w, nil
	case slices.Equal(perm, toLast) && x.first:
		w.first = false
		return &w, nil
	}
	return nil, fmt.Errorf("its order is %v; only channels can move, from the front to the back or back", perm)
}

// shapeOf is the size of a value, with the number of rows open.
func shapeOf(c *call) (*value, error) {
	if len(c.in) == 0 || c.in[0] == nil {
		return nil, fmt.Errorf("it has no input")
	}
	if k := c.in[0].constant; k != nil {
		out := &constant{dims: []int{len(k.dims)}}
		for _, d := range k.dims {
			out.data = append(out.data, float64(d))
		}
		return &value{constant: out}, nil
	}
	out := &constant{data: []float64{batch}}
	for _, d := range c.in[0].dims {
		out.data = append(out.data, float64(d))
	}
	out.dims = []int{len(out.data)}
	return &value{constant: out}, nil
}
