package importer

import (
	"fmt"
	"slices"

	"utvi/fn"
	"utvi/nn"
)

func batchNorm(c *call) (*value, error) {
	x, err := c.x()
	if err != nil {
		return nil, err
	}
	var k [4][]float64 // scale, offset, mean, variance
	for i := range k {
		w, err := c.weight(1 + i)
		if err != nil {
			return nil, err
		}
		n := x.shape.C
		if w == nil || len(w.data) != n {
			return nil, fmt.Errorf("its input %d must have one number for each of %d channels", 1+i, n)
		}
		k[i] = x.here(w.data, 1)
	}
	if c.int("training_mode", 0) != 0 {
		return nil, fmt.Errorf("it is in training mode; export the network for inference (model.eval() in PyTorch)")
	}
	if !x.flatRow() && !x.first {
		return nil, fmt.Errorf("its channels are not first")
	}
	return x.same(nn.BatchNorm{Gain: k[0], Offset: k[1], Mean: k[2], Var: k[3], Eps: c.float("epsilon", 1e-5)}), nil
}

// layerNorm normalises over all units of a row.
func layerNorm(c *call) (*value, error) {
	x, err := c.x()
	if err != nil {
		return nil, err
	}
	gain, err := c.weight(1)
	if err != nil {
		return nil, err
	}
	offset, err := c.weight(2)
	if err != nil {
		return nil, err
	}
	n := x.shape.Size()
	axis := c.int("axis", -1)
	if axis < 0 {
		axis += len(x.dims) + 1
	}
	if axis < 1 || size(x.dims[axis-1:]) != n {
		return nil, fmt.Errorf("it normalises over the last %d dimensions of %v; a layer normalises over a whole row", len(x.dims)+1-axis, x.dims)
	}
	return x.normalised(gain, offset, c.float("epsilon", 1e-5))
}

// normalised is a LayerNorm with gains and offsets, each one a unit; nil are ones and
// zeros.
func (v *value) normalised(gain, offset *constant, eps float64) (*value, error) {
	n := v.shape.Size()
	flat := v.flat() // for the order of its units
	numbers := [][]float64{repeat(1, n), repeat(0, n)}
	for i, k := range []*constant{gain, offset} {
		if k == nil {
			continue
		}
		if len(k.data) != n {
			return nil, fmt.Errorf("its gains and offsets have the size %v; a row has %v", k.dims, v.dims)
		}
		numbers[i] = flat.here(k.data, 1)
	}
	return v.same(nn.LayerNorm{Eps: eps}, numbers...), nil
}

// withGain multiplies the outputs of a LayerNorm by gains, or adds offsets, one a unit. ok
// is false if v is none, or has an offset already.
func (v *value) withGain(op string, k *constant) (out *value, ok bool) {
	if v.base != nil || v.layer == nil || k.scalar() {
		return nil, false
	}
	l, isNorm := v.layer.Layer.(nn.LayerNorm)
	if !isNorm || op == "Mul" && slices.ContainsFunc(v.layer.tensors[1], func(x float64) bool { return x != 0 }) {
		return nil, false
	}
	numbers, err := v.perUnit(k)
	if err != nil {
		return nil, false
	}
	gain, offset := slices.Clone(v.layer.tensors[0]), slices.Clone(v.layer.tensors[1])
	for i, x := range numbers {
		if op == "Mul" {
			gain[i] *= x
		} else {
			offset[i] += x
		}
	}
	return v.prev.same(l, gain, offset), true
}

func softmax(c *call) (*value, error) {
	x, err := c.x()
	if err != nil {
		return nil, err
	}
	standard := -1
	if c.opset < 13 {
		standard = 1
	}
	axis := c.int("axis", standard)
	if axis < 0 {
		axis += len(x.dims) + 1
	}
	if axis < 1 || axis > len(x.dims) || x.dims[axis-1] != x.shape.Size() {
		return nil, fmt.Errorf("it sums over dimension %d of %v; a layer sums over a whole row", axis, x.dims)
	}
	if c.op == "LogSoftmax" {
		return x.same(nn.Joint{Map: fn.LogSoftmax()}), nil
	}
	return x.same(nn.Joint{Map: fn.Softmax()}), nil
}

// logOfSoftmax is a logarithm of a softmax that is spelt out. ok is false if the node is
// none.
func (c *call) logOfSoftmax() (out *value, ok bool) {
	if c.op != "Log" || len(c.in) != 1 || c.in[0] == nil || c.in[0].layer == nil {
		return nil, false
	}
	if j, is := c.in[0].layer.Layer.(nn.Joint); !is || j.Map.Name != "softmax" {
		return nil, false
	}
	return c.in[0].prev.same(nn.Joint{Map: fn.LogSoftmax()}), true
}
