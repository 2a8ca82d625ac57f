package export

import (
	"utvi/internal/compute"
	"utvi/internal/special"
	"utvi/nn"
	"utvi/vi"
)

// perUnit is a constant made from a tensor of numbers, one a unit.
func (w *writer) perUnit(name string, t *vi.Tensor[float32], s nn.Shape, f func(float64) float64) value {
	v := make([]float64, len(t.Mean))
	for i, x := range t.Mean {
		v[i] = f(float64(x))
	}
	return w.floats(name, v, sizes(s)...)
}

// learnedScale divides units by learned numbers.
func (w *writer) learnedScale(n *node, in signal, out *signal) back {
	by := w.perUnit("scale", n.Tensors[0], in.shape, func(x float64) float64 { return 1 / special.Softplus(x) })
	return w.scale(in, out, by, "")
}

// batchNorm is a straight line for each channel.
func (w *writer) batchNorm(n *node, l nn.BatchNorm, in signal, out *signal) back {
	var learned [][]float64
	for _, t := range n.Tensors {
		learned = append(learned, compute.Widened(t.Mean))
	}
	slope, constant := l.Affine(learned...)
	return w.scale(in, out, w.floats("slope", slope, len(slope)), w.floats("constant", constant, len(constant)))
}

// scale multiplies units by factors and adds a constant, unless that is "".
func (w *writer) scale(in signal, out *signal, by, constant value) back {
	out.mean = w.mul(in.mean, by)
	if constant != "" {
		out.mean = w.add(out.mean, constant)
	}
	if in.form == nn.Fixed {
		return nil
	}
	out.variance = w.mul(in.variance, w.square(by))
	w.scaleCov(in, out, func() value { return w.wide(by, in.shape) })
	return func(_ *sensed, a value) value { return w.mul(a, w.wide(by, in.shape)) }
}

// wide makes a row of factors, of units or of channels, to multiply sensitivities by.
func (w *writer) wide(by value, s nn.Shape) value {
	if len(sizes(s)) == 1 {
		return by
	}
	return w.reshape(w.add(by, w.Floats("zero", make([]float32, s.Size()), s.H, s.W, s.C)), s.Size())
}

// scaleCov carries covariances through slopes g, rows × units or units: the variances
// of the output take the diagonal.
func (w *writer) scaleCov(in signal, out *signal, g func() value) {
	if in.form != nn.Covariant {
		return
	}
	out.cov = func() value {
		n := in.shape.Size()
		g := g()
		c := w.mul(in.cov(), w.mul(w.unsqueeze(g, -1), w.unsqueeze(g, -2)))
		eye := make([]float32, n*n)
		for i := range n {
			eye[i*n+i] = 1
		}
		diagonal := w.Op("Cast", []value{w.Floats("eye", eye, n, n)}, toBool)
		return w.where(diagonal, w.unsqueeze(w.rows(out.variance, in.shape), -1), c)
	}
}
