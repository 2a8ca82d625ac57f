package export

import (
	"math"

	"utvi/nn"
)

// periodic writes the units and, for every frequency of a unit, its sine and its cosine.
func (w *writer) periodic(n *node, l nn.Periodic, in signal, out *signal) back {
	m := w.rows(in.mean, in.shape)
	var unit []int
	for j, frequencies := range l.Frequencies {
		for range frequencies {
			unit = append(unit, j)
		}
	}
	if unit == nil {
		out.mean, out.variance = m, in.variance
		return w.pass(in)
	}
	by := w.perUnit("by", n.Tensors[0], nn.Vec(len(unit)), func(c float64) float64 { return 2 * math.Pi * c })
	phase := w.mul(w.gather(m, 1, unit...), by)
	sin, cos := w.unary("Sin", phase), w.unary("Cos", phase)
	if in.form == nn.Fixed {
		out.mean = w.concat(1, m, sin, cos)
		return nil
	}
	v := w.rows(in.variance, in.shape)
	spread := w.mul(w.gather(v, 1, unit...), w.square(by))
	s, c := w.wave(sin, cos, spread), w.wave(cos, w.neg(sin), spread)
	out.mean = w.concat(1, m, s.mean, c.mean)
	out.variance = w.concat(1, v, s.variance, c.variance)
	if !w.sense {
		return nil
	}
	return func(sense *sensed, to value) value {
		size, count := in.shape.Size(), len(unit)
		a := w.slice(to, 2, 0, size, 1)
		collect := make([]float32, count*size)
		for i, j := range unit {
			collect[i*size+j] = 1
		}
		for i, f := range []moments{s, c} {
			g := f.slope()                                                        // by the phase
			e := w.max(w.sub(f.variance, w.mul(w.square(g), spread)), w.Float(0)) // below 0 by rounding alone
			features := w.slice(to, 2, size+i*count, size+(i+1)*count, 1)
			sense.inject(features, w.unsqueeze(e, 1))
			a = w.add(a, w.matmul(w.mul(features, w.unsqueeze(w.mul(g, by), 1)), w.Floats("collect", collect, count, size)))
		}
		return a
	}
}
