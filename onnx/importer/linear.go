package importer

import (
	"fmt"

	"utvi/nn"
)

// here puts numbers of the elements of a row of v, one each or a multiple, into the order of the
// units.
func (v *value) here(x []float64, width int) []float64 { return placed(x, width, v.at.units()) }

// placed puts number i of a list, or group i of width numbers, to the place at[i].
func placed(x []float64, width int, at []int) []float64 {
	y := make([]float64, len(x))
	for i, to := range at {
		copy(y[to*width:][:width], x[i*width:][:width])
	}
	return y
}

func gemm(c *call) (*value, error) {
	x, err := c.x()
	if err != nil {
		return nil, err
	}
	b, err := c.weight(1)
	if err != nil || b == nil || len(b.dims) != 2 {
		return nil, fmt.Errorf("its weights must be a constant matrix")
	}
	if c.int("transA", 0) != 0 {
		return nil, fmt.Errorf("its input is transposed; rows must come first")
	}
	if c.int("transB", 0) != 0 {
		b, err = b.transpose(nil)
		if err != nil {
			return nil, err
		}
	}
	bias, err := c.weight(2)
	if err != nil {
		return nil, err
	}
	alpha, beta := c.float("alpha", 1), c.float("beta", 1)
	w := make([]float64, len(b.data))
	for i, v := range b.data {
		w[i] = alpha * v
	}
	var offset []float64
	if bias != nil {
		offset = make([]float64, b.dims[1])
		if !bias.scalar() && len(bias.data) != b.dims[1] {
			return nil, fmt.Errorf("its bias has the size %v for %d outputs", bias.dims, b.dims[1])
		}
		for i := range offset {
			offset[i] = beta * bias.data[i%len(bias.data)]
		}
	}
	return x.dense(&constant{dims: b.dims, data: w}, offset)
}

// matmul is a dense layer over the last dimension, or, with the weights first, over the one before
// it; or the product of two tensors.
func matmul(c *call) (*value, error) {
	if len(c.in) != 2 || c.in[0] == nil || c.in[1] == nil {
		return nil, fmt.Errorf("it needs two inputs")
	}
	switch a, b := c.in[0], c.in[1]; {
	case a.constant != nil && b.constant != nil:
		return nil, fmt.Errorf("it computes constants, which is not taken here")
	case b.constant != nil:
		x, err := a.settle()
		if err != nil {
			return nil, err
		}
		k := b.constant
		for len(k.dims) > 2 && k.dims[0] == 1 {
			k = &constant{dims: k.dims[1:], data: k.data}
		}
		if len(k.dims) != 2 {
			return nil, fmt.Errorf("its second input has the size %v; it must be a constant matrix, or a tensor that depends on the input of the graph", k.dims)
		}
		return x.dense(k, nil)
	case a.constant != nil:
		return c.fromLeft(a.constant, b)
	default:
		return c.product(a, b)
	}
}

// fromLeft is a constant matrix times x: a dense layer over the dimension before the last one.
func (c *call) fromLeft(k *constant, x *value) (*value, error) {
	x, err := x.settle()
	if err != nil {
		return nil, err
	}
	for len(k.dims) > 2 && k.dims[0] == 1 {
		k = &constant{dims: k.dims[1:], data: k.data}
	}
	n := len(x.at)
	if len(k.dims) != 2 || n < 3 {
		return nil, fmt.Errorf("its first input is a constant of the size %v and the second one has the dimensions %v; a constant must be a matrix, and its columns a dimension that is not the last one", k.dims, x.named())
	}
	k, err = k.transpose(nil)
	if err != nil {
		return nil, err
	}
	w := x.exchanged()
	y, err := w.dense(k, nil)
	if err != nil {
		return nil, err
	}
	return y.exchanged(), nil
}

// exchanged is v with its last two dimensions exchanged.
func (v *value) exchanged() *value {
	w := *v
	n := len(v.at)
	w.at = append(append(layout{}, v.at[:n-2]...), v.at[n-1], v.at[n-2])
	return &w
}

// dense is the layer with the weights w, inputs × outputs, over the last dimension: of whole rows, or
// of each place with the same weights.
func (v *value) dense(w *constant, bias []float64) (*value, error) {
	n := len(v.at)
	out := w.dims[1]
	switch {
	case n < 2 || v.at[n-1].hasRows() || v.at[n-1].size() != w.dims[0]:
		return nil, fmt.Errorf("its weights have the size %v; a row of its input has %v", w.dims, v.row())
	case out < 1:
		return nil, fmt.Errorf("it has no outputs")
	}
	v, err := v.lastSide(1)
	if err != nil {
		return nil, err
	}
	var tensors [][]float64
	fixed := func(at []int) {
		tensors = append(tensors, placed(w.data, out, at))
		if bias != nil {
			tensors = append(tensors, bias)
		}
	}
	if v.layer.shape.Size() == w.dims[0] {
		v = v.flat()
		fixed(v.at.units())
		at := make(layout, n)
		for i, a := range v.at[:n-1] {
			at[i] = axis{{batch, ofRows}}
			if !a.hasRows() {
				at[i] = nil
			}
		}
		at[n-1] = axis{{out, 1}}
		return v.then(nn.Dense{Out: out, NoBias: bias == nil}, nn.Vec(out), at.tidy(), tensors...), nil
	}
	fixed(layout{v.at[n-1]}.units())
	return v.withSide(nn.PerPlace{Layer: nn.Dense{Out: out, NoBias: bias == nil}}, n-1, 2, out, tensors...), nil
}

// withBias adds a constant to the outputs of a dense layer that has no bias yet.
func (v *value) withBias(k *constant) (*value, bool) {
	if v.text != "" || v.stat != nil || v.layer == nil || len(v.layer.from) != 1 {
		return nil, false
	}
	d, ok := v.layer.Layer.(nn.Dense)
	perPlace := false
	if p, is := v.layer.Layer.(nn.PerPlace); is {
		d, ok = p.Layer.(nn.Dense)
		perPlace = true
	}
	n := len(v.at)
	if !ok || !d.NoBias || len(k.data) != d.Out || k.dims[len(k.dims)-1] != d.Out || n < 1 || sideOf(v.at[n-1], v.layer.shape) != 2 {
		return nil, false
	}
	d.NoBias = false
	var l nn.Layer = d
	if perPlace {
		l = nn.PerPlace{Layer: d}
	}
	return v.layer.from[0].then(l, v.layer.shape, v.at, v.layer.tensors[0], k.data), true
}

// rowDims are the dimensions of a row with the channels first.
func (v *value) rowDims(s nn.Shape) []int {
	if len(v.row()) == 2 {
		return []int{s.C, s.W}
	}
	return []int{s.C, s.H, s.W}
}
