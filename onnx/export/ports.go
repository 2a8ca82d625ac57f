package export

import (
	"slices"

	"utvi/internal/onnx"
	"utvi/model"
	"utvi/nn"
)

// signatureOf is how an imported network's inputs and outputs were called and lay; nil if it has none,
// or another size by now.
func signatureOf(n *model.Model) *onnx.Signature {
	s := onnx.ParseSignature(n.Facts.More[onnx.SignatureFact], "mean", "variance")
	if s == nil || onnx.Sizes(s.Inputs) != n.Inputs() || onnx.Sizes(s.Outputs) != n.Outputs() {
		return nil
	}
	return s
}

// declared are the inputs of the graph as one signal.
func (w *writer) declared(s *onnx.Signature, shape nn.Shape, variance bool) signal {
	in := signal{shape: shape, form: nn.Fixed}
	if s == nil {
		s = &onnx.Signature{Inputs: []onnx.Port{{Name: "x", Dims: sizes(shape)}}}
	}
	in.mean = w.inputRows(s, shape, func(p onnx.Port) string { return p.Name })
	if variance {
		in.form = nn.Independent
		in.variance = w.inputRows(s, shape, onnx.Port.Variance)
	}
	return in
}

// inputRows declares the inputs, and lays them side by side in the order of the network.
func (w *writer) inputRows(s *onnx.Signature, shape nn.Shape, name func(onnx.Port) string) value {
	var all []value
	for _, p := range s.Inputs {
		all = append(all, w.Input(name(p), onnx.Float, p.Shape()...))
	}
	for i, p := range s.Inputs {
		if p.First && len(p.Dims) > 1 {
			all[i] = w.transpose(all[i], lastOf(len(p.Dims))...)
		}
	}
	if len(all) == 1 {
		return w.like(all[0], s.Inputs[0], shape)
	}
	for i, p := range s.Inputs {
		all[i] = w.reshape(all[i], -1, p.Size())
	}
	return w.natural(w.concat(1, all...), shape)
}

// like gives an input the dimensions of a shape, if it has others.
func (w *writer) like(v value, p onnx.Port, shape nn.Shape) value {
	has := p.Dims
	if p.First && len(has) > 1 {
		has = append(slices.Clone(has[1:]), has[0])
	}
	want := sizes(shape)
	if slices.Equal(has, want) {
		return v
	}
	return w.reshape(v, append([]int{-1}, want...)...)
}

// lastOf moves the channels of so many dimensions of a row from the front to the back.
func lastOf(n int) []int {
	perm := []int{0}
	for i := 2; i <= n; i++ {
		perm = append(perm, i)
	}
	return append(perm, 1)
}

// outputs are the mean and the variance; of an imported network also each of its outputs, as it was
// called and lay, with the variance beside it.
func (w *writer) outputs(s *onnx.Signature, out signal) {
	variance := w.varianceOf(out)
	w.Output("mean", out.mean, onnx.Float, dims(out.shape)...)
	w.Output("variance", variance, onnx.Float, dims(out.shape)...)
	if s == nil {
		return
	}
	at := 0
	for _, p := range s.Outputs {
		w.Output(p.Name, w.asPort(out.mean, out.shape, p, at), onnx.Float, p.Shape()...)
		w.Output(p.Variance(), w.asPort(variance, out.shape, p, at), onnx.Float, p.Shape()...)
		at += p.Size()
	}
}

// asPort is a stretch of the rows, laid as the output of an imported graph.
func (w *writer) asPort(v value, shape nn.Shape, p onnx.Port, at int) value {
	if p.Size() != shape.Size() {
		v = w.slice(w.rows(v, shape), 1, at, at+p.Size(), 1)
	}
	n := len(p.Dims)
	if !p.First || n < 2 {
		return w.reshape(v, append([]int{-1}, p.Dims...)...)
	}
	last := append(append([]int{-1}, p.Dims[1:]...), p.Dims[0])
	first := []int{0, n}
	for i := 1; i < n; i++ {
		first = append(first, i)
	}
	return w.transpose(w.reshape(v, last...), first...)
}
