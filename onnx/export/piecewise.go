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

// pieces are the intervals of a layer of pieces, one after the other.
type pieces struct {
	unit   []int // of each interval
	lo, hi value
	width  value
}

// pieces writes the edges of the intervals.
func (w *writer) pieces(l nn.Piecewise) *pieces {
	p := &pieces{}
	var a, b []float64
	for j, edges := range l.Edges {
		for k := range max(0, len(edges)-1) {
			p.unit = append(p.unit, j)
			a = append(a, edges[k])
			b = append(b, edges[k+1])
		}
	}
	if len(a) == 0 {
		return nil
	}
	p.lo = w.floats("from", a, len(a))
	p.hi = w.floats("to", b, len(b))
	p.width = w.sub(p.hi, p.lo)
	return p
}

// clip is how far x is within each interval, from 0 to 1.
func (w *writer) clip(p *pieces, x value) value {
	return w.min(w.max(w.div(w.sub(x, p.lo), p.width), w.Float(0)), w.Float(1))
}

// piecewise writes the units and, for every interval between edges of a unit, the feature
// clip((x − a)/(b − a), 0, 1) − ½.
func (w *writer) piecewise(n *node, l nn.Piecewise, in signal, out *signal) back {
	m := w.rows(in.mean, in.shape)
	p := w.pieces(l)
	if p == nil {
		out.mean = m
		out.variance = in.variance
		return w.pass(in)
	}
	x := w.gather(m, 1, p.unit...)
	f0 := w.clip(p, x)
	if in.form == nn.Fixed {
		out.mean = w.concat(1, m, w.plus(f0, -0.5))
		return nil
	}
	v := w.rows(in.variance, in.shape)
	xv := w.gather(v, 1, p.unit...)
	f := w.features(p, x, xv, f0)
	out.mean = w.concat(1, m, w.plus(w.add(f0, f.shift), -0.5))
	out.variance = w.concat(1, v, f.spread)
	if !w.sense {
		return nil
	}
	size := in.shape.Size()
	return func(s *sensed, to value) value { return w.piecewiseBack(s, p, f, size, to) }
}

// features are the moments of the features of uncertain units.
type features struct {
	variance value // of the unit
	density  value // of the points within the interval, with their weights
	shift    value // of the mean, from the feature of the mean
	spread   value // the variance
}

// features integrates over the interval, where the terms have one sign; outside, the feature is a
// number.
func (w *writer) features(p *pieces, x, xv, f0 value) (f features) {
	sd := w.max(w.sqrt(xv), w.Float(1e-30))
	const reach, order = 7.5, 32
	edge := func(at value) value {
		return w.max(w.min(w.div(w.sub(at, x), sd), w.Float(reach)), w.Float(-reach))
	}
	alpha := edge(p.lo)
	beta := edge(p.hi)
	below := w.cdf(alpha)
	above := w.cdf(w.neg(beta))
	nodes, weights := legendre(order)
	half := w.times(w.sub(beta, alpha), 0.5)
	mid := w.times(w.add(beta, alpha), 0.5)
	z := w.add(mid, w.mul(half, w.floats("nodes", nodes, order, 1, 1)))
	f.variance = xv
	f.density = w.mul(w.density(z), w.mul(half, w.floats("weights", weights, order, 1, 1)))
	d := w.sub(w.clip(p, w.add(x, w.mul(sd, z))), f0)
	// f − f₀ is −f₀ below and 1 − f₀ above.
	rest := w.from(1, f0)
	f.shift = w.add(w.sum(w.mul(f.density, d), 0, false), w.sub(w.mul(above, rest), w.mul(below, f0)))
	inside := w.sum(w.mul(f.density, w.square(w.sub(d, f.shift))), 0, false)
	f.spread = w.add(inside, w.add(w.mul(below, w.square(w.add(f0, f.shift))), w.mul(above, w.square(w.sub(rest, f.shift)))))
	return f
}

// piecewiseBack adds up the sensitivities of a unit and its features.
func (w *writer) piecewiseBack(s *sensed, p *pieces, f features, size int, to value) value {
	count := len(p.unit)
	g := w.div(w.sum(f.density, 0, false), p.width)
	e := w.max(w.sub(f.spread, w.mul(w.square(g), f.variance)), w.Float(0)) // below 0 by rounding alone
	own := w.slice(to, 2, 0, size, 1)
	features := w.slice(to, 2, size, size+count, 1)
	s.inject(features, w.unsqueeze(e, 1))
	collect := make([]float32, count*size)
	for i, j := range p.unit {
		collect[i*size+j] = 1
	}
	return w.add(own, w.matmul(w.mul(features, w.unsqueeze(g, 1)), w.Floats("collect", collect, count, size)))
}
