package export

import (
	"utvi/internal/onnx"
	"utvi/nn"
)

// softmaxAlong writes a softmax of each line along an axis, as rows of their own. A causal one has
// lines of different lengths.
func (w *writer) softmaxAlong(l nn.Softmax, in signal, out *signal) back {
	axis := axisOf(l.Axis)
	s := in.shape
	d := sidesOf(s)[axis]
	perm := []int{0, 1, 2, 3} // exchanges the axis with the last one; its own reverse
	perm[1+axis] = 3
	perm[3] = 1 + axis
	lines := func(v value) value { return w.transpose(w.image(v, s), perm...) }
	mean, variance := w.ofLines(l.Causal, s, d, lines(in.mean), func() value { return lines(in.variance) }, in.form)
	if variance != "" {
		variance = w.transpose(variance, perm...)
	}
	w.finish(out, w.transpose(mean, perm...), variance)
	return func(q *sensed, a value) value {
		p := w.image(out.mean, s)
		x, v := w.image(in.variance, s), w.image(out.variance, s)
		all := w.sum(w.mul(w.square(p), x), 1+axis, true)
		rest := w.mul(w.square(p), w.add(w.mul(w.from(1, w.times(p, 2)), x), all))
		e := w.max(w.sub(v, rest), w.Float(0))
		q.inject(a, w.reshape(e, -1, 1, s.Size()))
		p = w.unsqueeze(p, 1)
		a = w.sensedAs(a, q.k, s)
		along := w.sum(w.mul(p, a), 2+axis, true)
		return w.unsensed(w.mul(p, w.sub(a, along)), q.k, s)
	}
}

// ofLines are the softmaxes along the last axis of images.
func (w *writer) ofLines(causal bool, s nn.Shape, d int, m value, variance func() value, form nn.Form) (mean, v value) {
	one := func(m, v value, d int) (mean, variance value) {
		if form == nn.Fixed {
			return w.Op("Softmax", []value{m}, onnx.Int("axis", -1)), ""
		}
		mean, variance = w.softmax(spread{m: w.reshape(m, -1, d), v: w.reshape(v, -1, d), d: d})
		return mean, variance
	}
	if form != nn.Fixed {
		v = variance()
	}
	if !causal {
		mean, v = one(m, v, d)
		shape := w.unary("Shape", m)
		if form != nn.Fixed {
			mean, v = w.Op("Reshape", []value{mean, shape}), w.Op("Reshape", []value{v, shape})
		}
		return mean, v
	}
	var means, variances []value
	for at := range s.W {
		n := at + 1 + s.C - s.W
		cut := func(x value) value { return w.slice(w.slice(x, 2, at, at+1, 1), 3, 0, n, 1) }
		back := func(x value) value {
			return w.Op("Pad", []value{w.reshape(x, -1, s.H, 1, n), w.Ints(0, 0, 0, 0, 0, 0, 0, d-n)})
		}
		var own value
		if form != nn.Fixed {
			own = cut(v)
		}
		y, z := one(cut(m), own, n)
		means = append(means, back(y))
		if form != nn.Fixed {
			variances = append(variances, back(z))
		}
	}
	if form != nn.Fixed {
		return w.concat(2, means...), w.concat(2, variances...)
	}
	return w.concat(2, means...), ""
}
