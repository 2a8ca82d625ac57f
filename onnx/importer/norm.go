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
	if x.flatRow() {
		x = x.flat()
	} else {
		x, err = x.image()
	}
	if err != nil {
		return nil, err
	}
	var k [4][]float64 // scale, offset, mean, variance
	for i := range k {
		w, err := c.weight(1 + i)
		if err != nil {
			return nil, err
		}
		n := x.layer.shape.C
		if w == nil || len(w.data) != n {
			return nil, fmt.Errorf("its input %d must have one number for each of %d channels", 1+i, n)
		}
		k[i] = w.data
		if x.flatRow() {
			k[i] = x.here(w.data, 1)
		}
	}
	if c.int("training_mode", 0) != 0 {
		return nil, fmt.Errorf("it is in training mode; export the network for inference (model.eval() in PyTorch)")
	}
	return x.same(nn.BatchNorm{Gain: k[0], Offset: k[1], Mean: k[2], Var: k[3], Eps: c.float("epsilon", 1e-5)}), nil
}

// layerNorm normalises over the last dimensions: over all units of a row, or over each place.
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
	axis, err := c.dimension(c.int("axis", -1), len(x.at))
	if err != nil {
		return nil, err
	}
	return x.normalised(gain, offset, c.float("epsilon", 1e-5), len(x.at)-axis)
}

// normalised is a LayerNorm over the last dimensions with gains and offsets, each one a unit; nil are
// ones and zeros.
func (v *value) normalised(gain, offset *constant, eps float64, last int) (*value, error) {
	over := layout(v.at[len(v.at)-last:])
	n := over.all().size()
	whole := n == v.layer.shape.Size()
	if !whole || over.all().hasRows() {
		var err error
		v, err = v.lastSide(last)
		if err != nil {
			return nil, err
		}
		over = layout(v.at[len(v.at)-last:])
	}
	numbers := [][]float64{repeat(1, n), repeat(0, n)}
	for i, k := range []*constant{gain, offset} {
		if k == nil {
			continue
		}
		if len(k.data) != n {
			return nil, fmt.Errorf("its gains and offsets have the size %v; it normalises over %v", k.dims, over.dims())
		}
		numbers[i] = placed(k.data, 1, over.units())
	}
	if whole {
		return v.same(nn.LayerNorm{Eps: eps}, numbers...), nil
	}
	return v.same(nn.PerPlace{Layer: nn.LayerNorm{Eps: eps}}, numbers...), nil
}

// withGain multiplies the outputs of a LayerNorm by gains, or adds offsets, one a unit. ok
// is false if v is none, or has an offset already.
func (v *value) withGain(op string, k *constant) (out *value, ok bool) {
	if v.text != "" || v.stat != nil || v.layer == nil || k.scalar() {
		return nil, false
	}
	l := v.layer.Layer
	_, isNorm := l.(nn.LayerNorm)
	if p, is := l.(nn.PerPlace); is {
		_, isNorm = p.Layer.(nn.LayerNorm)
	}
	if !isNorm || op == "Mul" && slices.ContainsFunc(v.layer.tensors[1], func(x float64) bool { return x != 0 }) {
		return nil, false
	}
	numbers, err := v.perUnit(k)
	n := len(v.layer.tensors[0])
	if err != nil || !repeats(numbers, n) {
		return nil, false
	}
	numbers = numbers[:n]
	gain, offset := slices.Clone(v.layer.tensors[0]), slices.Clone(v.layer.tensors[1])
	for i, x := range numbers {
		if op == "Mul" {
			gain[i] *= x
		} else {
			offset[i] += x
		}
	}
	return v.layer.from[0].then(l, v.layer.shape, v.at, gain, offset), true
}

// repeats reports numbers that repeat every n.
func repeats(x []float64, n int) bool {
	for i := n; i < len(x); i++ {
		if x[i] != x[i-n] {
			return false
		}
	}
	return true
}

// softmax is one over all units of a row, or along one side.
func softmax(c *call) (*value, error) {
	x, err := c.x()
	if err != nil {
		return nil, err
	}
	standard := -1
	if c.opset < 13 {
		standard = 1
	}
	dim, err := c.dimension(c.int("axis", standard), len(x.at))
	if err != nil {
		return nil, err
	}
	over := x.at[dim]
	if c.opset < 13 { // all dimensions from the axis on
		over = x.at[dim:].all()
	}
	logs := c.op == "LogSoftmax"
	if over.size() == x.layer.shape.Size() && !over.hasRows() {
		if logs {
			return x.same(nn.Joint{Map: fn.LogSoftmax()}), nil
		}
		return x.same(nn.Joint{Map: fn.Softmax()}), nil
	}
	if over.size() != x.at[dim].size() {
		return nil, fmt.Errorf("it sums over the dimensions from %d on of %v; one of them, or a whole row, is taken", dim, x.named())
	}
	x, side, err := x.asSide(dim)
	if err != nil {
		return nil, err
	}
	y := x.same(nn.Softmax{Axis: [3]nn.Axis{nn.Height, nn.Width, ""}[side]})
	if !logs {
		return y, nil
	}
	return y.of(func(x string) string { return "log(" + x + ")" })
}

// logOfSoftmax is a logarithm of a softmax that is spelt out. ok is false if the node is
// none.
func (c *call) logOfSoftmax() (out *value, ok bool) {
	if c.op != "Log" || len(c.in) != 1 || c.in[0] == nil || c.in[0].layer == nil || c.in[0].text != "" {
		return nil, false
	}
	if j, is := c.in[0].layer.Layer.(nn.Joint); !is || j.Map.Name != "softmax" {
		return nil, false
	}
	return c.in[0].layer.from[0].then(nn.Joint{Map: fn.LogSoftmax()}, c.in[0].layer.shape, c.in[0].at), true
}
