package export

import (
	"utvi/internal/special"
	"utvi/nn"
)

// dropout: mean m, variance (v + P·m²)/(1−P).
func (w *writer) dropout(l nn.Dropout, in signal, out *signal) back {
	out.mean = in.mean
	if out.form == nn.Fixed {
		return nil
	}
	v := w.times(w.square(in.mean), l.P)
	if in.form != nn.Fixed {
		v = w.add(v, in.variance)
	}
	out.variance = w.div(v, w.Float(1-l.P))
	w.scaleCov(in, out, func() value { return w.ones(in.shape) })
	return w.adds(in, out, func() value {
		if in.form == nn.Fixed {
			return out.variance
		}
		return w.sub(out.variance, in.variance)
	})
}

// noise adds a learned variance.
func (w *writer) noise(n *node, l nn.Noise, in signal, out *signal) back {
	out.mean, out.variance = in.mean, in.variance
	if l.Off {
		out.cov = in.cov
		return w.pass(in)
	}
	s := w.perUnit("noise", n.Tensors[0], in.shape, func(x float64) float64 {
		sd := special.Softplus(x)
		return sd * sd
	})
	out.variance = w.add(w.varianceOf(in), s)
	w.scaleCov(in, out, func() value { return w.ones(in.shape) })
	return w.adds(in, out, func() value { return w.add(w.zeros(in.mean), s) })
}

// adds is the back of a layer that adds the independent variances e and leaves units as
// they are.
func (w *writer) adds(in signal, out *signal, e func() value) back {
	if !w.sense {
		return nil
	}
	return func(s *sensed, a value) value {
		s.inject(a, w.unsqueeze(w.rows(e(), out.shape), 1))
		if in.form == nn.Fixed {
			return ""
		}
		return a
	}
}

func (w *writer) ones(s nn.Shape) value {
	one := make([]float32, s.Size())
	for i := range one {
		one[i] = 1
	}
	return w.Floats("one", one, len(one))
}
