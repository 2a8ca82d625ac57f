package importer

import (
	"fmt"

	"utvi/nn"
)

// here puts numbers of the units of v, one each or a multiple, into the order of the
// network.
func (v *value) here(x []float64, width int) []float64 {
	if v.order == nil {
		return x
	}
	y := make([]float64, len(x))
	for i, at := range v.order {
		copy(y[at*width:][:width], x[i*width:][:width])
	}
	return y
}

// flatRow reports whether the row of v is one dimension in the graph.
func (v *value) flatRow() bool { return len(v.dims) == 1 }

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
	return x.dense(&constant{b.dims, w}, offset)
}

func matmul(c *call) (*value, error) {
	x, err := c.x()
	if err != nil {
		return nil, err
	}
	b, err := c.weight(1)
	if err != nil || b == nil || len(b.dims) != 2 {
		return nil, fmt.Errorf("its second input must be a constant matrix; products of two tensors, as in attention, are not taken")
	}
	return x.dense(b, nil)
}

// dense is the layer with the weights w, inputs × outputs.
func (v *value) dense(w *constant, bias []float64) (*value, error) {
	if !v.flatRow() || w.dims[0] != v.shape.Size() {
		return nil, fmt.Errorf("its weights have the size %v; a row of its input has %v", w.dims, v.dims)
	}
	out := w.dims[1]
	if out < 1 {
		return nil, fmt.Errorf("it has no outputs")
	}
	tensors := [][]float64{v.here(w.data, out)}
	if bias != nil {
		tensors = append(tensors, bias)
	}
	return v.after(nn.Dense{Out: out, NoBias: bias == nil}, nn.Vec(out), []int{out}, false, tensors...), nil
}

// withBias adds a constant to the outputs of a dense layer that has no bias yet.
func (v *value) withBias(k *constant) (*value, bool) {
	if v.base != nil || v.layer == nil {
		return nil, false
	}
	d, ok := v.layer.Layer.(nn.Dense)
	if !ok || !d.NoBias || len(k.data) != d.Out || k.dims[len(k.dims)-1] != d.Out {
		return nil, false
	}
	d.NoBias = false
	return v.prev.after(d, v.shape, v.dims, v.first, v.layer.tensors[0], k.data), true
}

// rowDims are the dimensions of a row with the channels first.
func (v *value) rowDims(s nn.Shape) []int {
	if len(v.dims) == 2 {
		return []int{s.C, s.W}
	}
	return []int{s.C, s.H, s.W}
}
