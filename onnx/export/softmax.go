package export

import "utvi/moment"

// normals are the means and variances of some quantities, rows × quantities.
type normals struct{ m, v value }

func (w *writer) cut(n normals, lo, hi int) normals {
	return normals{w.slice(n.m, 1, lo, hi, 1), w.slice(n.v, 1, lo, hi, 1)}
}

func (w *writer) beside(parts ...normals) normals {
	var m, v []value
	for _, p := range parts {
		m, v = append(m, p.m), append(v, p.v)
	}
	return normals{w.concat(1, m...), w.concat(1, v...)}
}

// softmax is the closed form of fn.Softmax: each output is the sigmoid of a logit less the
// log-sum-exp of the others, which is taken as Normal. The sums over the logits before and
// after each are built up one at a time, both in one step.
func (w *writer) softmax(x spread) (mean, variance value) {
	d := x.d
	all := normals{x.m, x.v}
	if d == 1 {
		zero := w.zeros(x.m)
		return w.plus(zero, 1), zero
	}
	one := func(i int) normals { return w.cut(all, i, i+1) }
	left, right := make([]normals, d), make([]normals, d)
	left[0], right[d-1] = one(0), one(d-1)
	for i := 1; i < d-1; i++ {
		both := w.join(w.beside(left[i-1], right[d-i]), w.beside(one(i), one(d-1-i)))
		left[i], right[d-1-i] = w.cut(both, 0, 1), w.cut(both, 1, 2)
	}
	rest := w.beside(right[1], left[d-2])
	if d > 2 {
		mid := w.join(w.beside(left[:d-2]...), w.beside(right[2:]...))
		rest = w.beside(right[1], mid, left[d-2])
	}
	xi, weights := w.quadrature(15)
	f := w.sigmoid(w.add(w.sub(x.m, rest.m), w.mul(w.sqrt(w.add(x.v, rest.v)), xi)))
	f0 := w.slice(f, 0, 0, 1, 1)
	e := w.sub(f, f0)
	shift := w.sum(w.mul(e, weights), 0, true)
	p := w.squeeze(w.add(f0, shift), 0)
	variance = w.sum(w.mul(w.square(w.sub(e, shift)), weights), 0, false)
	return w.div(p, w.sum(p, 1, true)), variance
}

// quadrature returns Gauss–Hermite points and weights, the points first.
func (w *writer) quadrature(order int) (xi, weights value) {
	n := moment.GaussHermite(order).Nodes()
	return w.floats("xi", n.Xi, order, 1, 1), w.floats("w", n.W, order, 1, 1)
}

// join is ln(eᵃ+eᵇ) of Normals: with δ = b−a ~ N(μ, s²) at points ξ,
// g = softplus(μ + sξ) − (v_a/s)ξ, mean m_a + E g, variance Var g + v_a·v_b/s².
func (w *writer) join(a, b normals) normals {
	v := w.add(a.v, b.v)
	some := w.above(v, 0)
	sd := w.sqrt(v)
	safe := w.where(some, v, w.Float(1))
	r := w.div(a.v, w.sqrt(safe))
	share := w.mul(a.v, w.div(b.v, safe))
	xi, weights := w.quadrature(5)
	t := w.add(w.sub(b.m, a.m), w.mul(sd, xi))
	g := w.sub(w.softplus(t), w.mul(r, xi))
	mean := w.sum(w.mul(g, weights), 0, true)
	variance := w.sum(w.mul(w.square(w.sub(g, mean)), weights), 0, false)
	variance = w.where(some, variance, w.zeros(variance))
	return normals{w.add(a.m, w.squeeze(mean, 0)), w.add(variance, share)}
}

// alike are the variances of independent logits whose differences spread most like those
// of correlated ones: with R_i = Σ_j Var(x_i − x_j), of K logits of which P keep a
// variance, (R_i − S)/(K−2) where that is positive, S = Σ_P R/(K−2+|P|). The P are the
// largest R; see moment.CovTile.
func (w *writer) alike(x spread) value {
	k := x.d
	if k == 1 {
		return x.v
	}
	differences := w.sub(w.add(w.unsqueeze(x.v, 2), w.unsqueeze(x.v, 1)), w.times(x.cov, 2))
	eye := make([]float32, k*k)
	for i := range k {
		eye[i*k+i] = 1
	}
	differences = w.mul(differences, w.from(1, w.Floats("eye", eye, k, k)))
	r := w.sum(differences, 2, false)
	if k == 2 {
		return w.max(w.times(r, 0.5), w.Float(0))
	}
	sorted := w.Ops("TopK", 2, []value{r, w.Ints(k)})[0]
	sums := w.Op("CumSum", []value{sorted, w.Index(1)})
	counts := make([]float64, k)
	for i := range counts {
		counts[i] = float64(k - 1 + i)
	}
	fits := w.cast(w.Op("GreaterOrEqual", []value{sorted, w.div(sums, w.floats("counts", counts, k))}))
	number := w.sum(fits, 1, true)
	s := w.div(w.sum(w.mul(sorted, fits), 1, true), w.plus(number, float64(k-2)))
	return w.times(w.max(w.sub(r, s), w.Float(0)), 1/float64(k-2))
}
