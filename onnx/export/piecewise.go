package export

import "utvi/nn"

// appended writes learned numbers behind the units of each row.
func (w *writer) appended(n *node, in signal, out *signal) back {
	m := w.rows(in.mean, in.shape)
	numbers := w.Floats("numbers", n.Tensors[0].Mean, len(n.Tensors[0].Mean))
	rows := w.zeros(w.slice(m, 1, 0, 1, 1))
	more := w.add(rows, numbers)
	out.mean = w.concat(1, m, more)
	if in.form != nn.Fixed {
		out.variance = w.concat(1, w.rows(in.variance, in.shape), w.zeros(more))
	}
	return nil
}

// piecewise writes the units and, for every interval between edges of a unit, the feature
// clip((x − a)/(b − a), 0, 1) − ½. Within an interval the moments are integrals whose
// terms have one sign; outside, the feature is a number.
func (w *writer) piecewise(n *node, l nn.Piecewise, in signal, out *signal) back {
	m := w.rows(in.mean, in.shape)
	var unit []int
	var a, b []float64
	for j, edges := range l.Edges {
		for k := range max(0, len(edges)-1) {
			unit = append(unit, j)
			a = append(a, edges[k])
			b = append(b, edges[k+1])
		}
	}
	count := len(unit)
	if count == 0 {
		out.mean, out.variance = m, in.variance
		return w.pass(in)
	}
	x := w.gather(m, 1, unit...)
	lo, hi := w.floats("from", a, count), w.floats("to", b, count)
	width := w.sub(hi, lo)
	clip := func(x value) value {
		return w.min(w.max(w.div(w.sub(x, lo), width), w.Float(0)), w.Float(1))
	}
	f0 := clip(x)
	if in.form == nn.Fixed {
		out.mean = w.concat(1, m, w.plus(f0, -0.5))
		return nil
	}
	v := w.rows(in.variance, in.shape)
	xv := w.gather(v, 1, unit...)
	sd := w.max(w.sqrt(xv), w.Float(1e-30))
	const reach, order = 7.5, 32
	edge := func(at value) value {
		return w.max(w.min(w.div(w.sub(at, x), sd), w.Float(reach)), w.Float(-reach))
	}
	alpha, beta := edge(lo), edge(hi)
	below, above := w.cdf(alpha), w.cdf(w.neg(beta))
	nodes, weights := legendre(order)
	half, mid := w.times(w.sub(beta, alpha), 0.5), w.times(w.add(beta, alpha), 0.5)
	z := w.add(mid, w.mul(half, w.floats("nodes", nodes, order, 1, 1)))
	p := w.mul(w.density(z), w.mul(half, w.floats("weights", weights, order, 1, 1)))
	d := w.sub(clip(w.add(x, w.mul(sd, z))), f0)
	// f − f₀ is −f₀ below and 1 − f₀ above.
	rest := w.from(1, f0)
	shift := w.add(w.sum(w.mul(p, d), 0, false), w.sub(w.mul(above, rest), w.mul(below, f0)))
	spread := w.sum(w.mul(p, w.square(w.sub(d, shift))), 0, false)
	spread = w.add(spread, w.add(w.mul(below, w.square(w.add(f0, shift))), w.mul(above, w.square(w.sub(rest, shift)))))
	out.mean = w.concat(1, m, w.plus(w.add(f0, shift), -0.5))
	out.variance = w.concat(1, v, spread)
	if !w.sense {
		return nil
	}
	return func(s *sensed, to value) value {
		size := in.shape.Size()
		g := w.div(w.sum(p, 0, false), width)
		e := w.max(w.sub(spread, w.mul(w.square(g), xv)), w.Float(0)) // below 0 by rounding alone
		own, features := w.slice(to, 2, 0, size, 1), w.slice(to, 2, size, size+count, 1)
		s.inject(features, w.unsqueeze(e, 1))
		collect := make([]float32, count*size)
		for i, j := range unit {
			collect[i*size+j] = 1
		}
		return w.add(own, w.matmul(w.mul(features, w.unsqueeze(g, 1)), w.Floats("collect", collect, count, size)))
	}
}
