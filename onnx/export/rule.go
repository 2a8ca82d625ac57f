package export

import (
	"fmt"
	"math"

	"utvi/internal/compute/kernel"
	"utvi/internal/expr"
	"utvi/moment"
)

// moments are what a rule makes of a function of N(m, v): the mean, the variance and,
// where it is asked for, the slope Cov(f, x)/v.
type moments struct {
	mean, variance value
	slope          func() value
}

// push applies a rule. rank is the number of dimensions of m and v; kappa is that of a
// learned one.
func (f *function) push(rule moment.Rule, kappa float64, m, v value, rank int) (moments, error) {
	n := rule.Nodes()
	switch n.Method {
	case moment.ByPoints:
		if rule.Learns() {
			n = moment.LearnedUT(kappa).Nodes() // where training has taken κ
		}
		return f.points(n.Xi, n.W, m, v, rank), nil
	case moment.ByTangent:
		d := f.slope(m)
		return moments{f.at(m), f.o.mul(f.o.square(d), v), func() value { return d }}, nil
	case moment.InClosedForm:
		return f.exact(m, v, rank), nil
	case moment.BySampling:
		return moments{}, fmt.Errorf("the rule %v draws random numbers, and a graph has none; take a rule of points, such as gh(5)", rule)
	}
	return moments{}, fmt.Errorf("the rule %v is Go code, which a graph cannot hold; make it from points (moment.Points), or take another rule, such as gh(5)", rule)
}

// small is the σ, relative to 1+|m|, below which points resolve nothing: the limit of
// vanishing variance takes their place, as in package moment.
const small = 1e-4

// points evaluates f at m + ξσ, all points in one tensor with the points first, and
// combines: mean = f₀ + Σ w d, variance = Σ w (d−M)², with d = f − f₀ and M = Σ w d.
func (f *function) points(xi, w []float64, m, v value, rank int) moments {
	o := f.o
	dims := make([]int, rank+1)
	for i := range dims {
		dims[i] = 1
	}
	dims[0] = len(xi)
	sd := o.sqrt(v)
	y := f.at(o.add(m, o.mul(sd, o.floats("xi", xi, dims...))))
	f0 := o.slice(y, 0, 0, 1, 1)
	d := o.sub(y, f0)
	weights := o.floats("w", w, dims...)
	shift := o.sum(o.mul(d, weights), 0, true)
	mean := o.squeeze(o.add(f0, shift), 0)
	variance := o.sum(o.mul(o.square(o.sub(d, shift)), weights), 0, false)

	tiny, mean, variance := f.limit(mean, variance, m, v, sd)
	return moments{mean, variance, func() value {
		wx := make([]float64, len(xi))
		for i := range xi {
			wx[i] = xi[i] * w[i]
		}
		g := o.div(o.sum(o.mul(d, o.floats("w", wx, dims...)), 0, false), sd)
		return o.where(tiny, f.slope(m), g)
	}}
}

// limit replaces what differences of nearby values cannot resolve by the limit of
// vanishing variance: mean f + ½f″v, variance f′²v. tiny is true where σ is that small;
// next to a kink the values are right as they are.
func (f *function) limit(mean, variance, m, v, sd value) (tiny, limitMean, limitVariance value) {
	o := f.o
	tiny = o.less(sd, o.times(o.plus(o.abs(m), 1), small))
	limit := o.and(o.and(tiny, o.above(v, 0)), f.smooth(m, o.times(sd, 8)))
	bent := o.add(f.at(m), o.times(o.mul(f.curvature(m), v), 0.5))
	return tiny, o.where(limit, bent, mean), o.where(limit, o.mul(o.square(f.slope(m)), v), variance)
}

// smooth is true where no kink lies within r of x.
func (f *function) smooth(x, r value) value {
	o := f.o
	yes := o.Op("GreaterOrEqual", []value{r, o.Float(0)}) // true
	if len(f.formula.Inputs) == 0 {
		for _, k := range f.of.Kinks {
			yes = o.and(yes, o.less(r, o.abs(o.plus(x, -k))))
		}
		return yes
	}
	for _, e := range f.formula.Switches {
		yes = o.and(yes, o.above(o.mul(f.eval(e, o.sub(x, r)), f.eval(e, o.add(x, r))), 0))
	}
	return yes
}

// exact applies a closed form.
func (f *function) exact(m, v value, rank int) moments {
	o := f.o
	switch f.of.Op {
	case kernel.OpLeakyReLU:
		return o.leaky(f.of.A, m, v)
	case kernel.OpExp: // lognormal, with the variance as e^{2m+2v}·(1−e⁻ᵛ)
		mean := o.exp(o.add(m, o.times(v, 0.5)))
		variance := o.mul(o.exp(o.times(o.add(m, v), 2)), o.neg(o.expm1(o.neg(v))))
		return moments{mean, variance, func() value { return mean }}
	case kernel.OpSquare: // mean m² + v, variance 4m²v + 2v²
		return moments{o.add(o.square(m), v), o.mul(v, o.add(o.times(o.square(m), 4), o.times(v, 2))), func() value { return o.times(m, 2) }}
	case kernel.OpSin:
		return o.wave(o.unary("Sin", m), o.unary("Cos", m), v)
	case kernel.OpCos:
		return o.wave(o.unary("Cos", m), o.neg(o.unary("Sin", m)), v)
	}
	return f.integrate(m, v, rank)
}

// wave are the moments of a wave with value s and slope c at the mean: with q = e⁻ᵛ,
// mean √q·s and variance (1−q)·((1−q)/2 + q·c²).
func (o ops) wave(s, c, v value) moments {
	root := o.exp(o.times(v, -0.5))
	q := o.exp(o.neg(v))
	p := o.neg(o.expm1(o.neg(v)))
	variance := o.mul(p, o.add(o.times(p, 0.5), o.mul(q, o.square(c))))
	return moments{o.mul(root, s), variance, func() value { return o.mul(root, c) }}
}

// leaky are the moments of x for x > 0, else a·x. With t = |m|/σ, c = f′(m), s the sign of
// m, φ = φ(t), K = I₁(t) and J = I₂(t) (see upper; compute.LeakyMoments has the formulas),
//
//	mean     = f(m) + (1−a)·σφK
//	variance = v·(c² − s(1−a)φ·[(1+a)J + 2c·tK + s(1−a)φK²])
//	slope    = c − s(1−a)φM,  M = J + tK
func (o ops) leaky(a float64, m, v value) moments {
	right := o.above(m, 0)
	c := o.where(right, o.Float(1), o.Float(a))
	s := o.where(right, o.Float(1-a), o.Float(a-1)) // s(1−a)
	sd := o.sqrt(v)
	some := o.above(v, 0)
	t := o.where(some, o.min(o.div(o.abs(m), sd), o.Float(tailEnd)), o.Float(tailEnd))
	phi := o.density(t)
	u := o.upper(t)
	k, j := u.first(), u.second()
	tk := o.mul(t, k)
	phiK := o.mul(phi, k)
	mean := o.add(o.mul(c, m), o.times(o.mul(sd, phiK), 1-a))
	sum := o.add(o.add(o.times(j, 1+a), o.times(o.mul(c, tk), 2)), o.mul(s, o.mul(phiK, k)))
	variance := o.mul(v, o.sub(o.square(c), o.mul(s, o.mul(phi, sum))))
	return moments{mean, variance, func() value { return o.sub(c, o.mul(s, o.mul(phi, o.add(j, tk)))) }}
}

// integrate is a closed form that is an integral itself, or that float32 would not bear: a
// Gauss–Legendre quadrature on each side of the kinks of f, and of the places where f
// turns into its tails. Nothing cancels: mean = f(m) + E[f − f(m)], variance E[(f − mean)²].
func (f *function) integrate(m, v value, rank int) moments {
	const reach, order = 7.5, 32 // standard deviations, points of each piece
	o := f.o
	sd := o.sqrt(v)
	safe := o.max(sd, o.Float(1e-30))
	edges := []value{o.Float(-reach)}
	for _, x := range f.breaks() {
		z := o.div(o.from(x, m), safe)
		edges = append(edges, o.max(o.min(z, o.Float(reach)), o.Float(-reach)))
	}
	edges = append(edges, o.Float(reach))
	dims := make([]int, rank+1)
	for i := range dims {
		dims[i] = 1
	}
	dims[0] = order
	x, w := legendre(order)
	nodes, weights := o.floats("nodes", x, dims...), o.floats("weights", w, dims...)
	var zs, ws []value
	for i := range edges[1:] {
		half := o.times(o.sub(edges[i+1], edges[i]), 0.5)
		mid := o.times(o.add(edges[i+1], edges[i]), 0.5)
		z := o.add(o.add(mid, o.mul(half, nodes)), o.zeros(m)) // also where both edges are numbers
		zs, ws = append(zs, z), append(ws, o.mul(o.density(z), o.mul(half, weights)))
	}
	z, p := o.concat(0, zs...), o.concat(0, ws...)
	f0 := f.at(m)
	d := o.sub(f.at(o.add(m, o.mul(sd, z))), f0)
	shift := o.sum(o.mul(p, d), 0, false)
	variance := o.sum(o.mul(p, o.square(o.sub(d, shift))), 0, false)
	tiny, mean, variance := f.limit(o.where(o.above(v, 0), o.add(f0, shift), f0), variance, m, v, sd)
	return moments{mean, variance, func() value {
		g := o.sum(o.mul(p, f.slope(o.add(m, o.mul(sd, z)))), 0, false)
		return o.where(tiny, f.slope(m), g)
	}}
}

// breaks are the kinks of f and, for functions with tails, where those begin.
func (f *function) breaks() []float64 {
	const tail = 6
	smooth := true
	f.formula.Expr.Walk(func(e *expr.Expr) { smooth = smooth && e.Op() != expr.Expm1 })
	if smooth && len(f.of.Kinks) > 0 { // pieces of straight lines
		return f.of.Kinks
	}
	if !smooth {
		return []float64{-2 * tail, 0}
	}
	return []float64{-tail, 0, tail}
}

// legendre returns the nodes and weights of the Gauss–Legendre quadrature on [−1, 1].
func legendre(n int) (x, w []float64) {
	for i := range n {
		t := math.Cos(math.Pi * (float64(i) + 0.75) / (float64(n) + 0.5))
		var d float64
		for range 20 {
			p, before := 1.0, 0.0
			for k := 1; k <= n; k++ {
				p, before = (float64(2*k-1)*t*p-float64(k-1)*before)/float64(k), p
			}
			d = float64(n) * (t*p - before) / (t*t - 1)
			t -= p / d
		}
		x, w = append(x, t), append(w, 2/((1-t*t)*d*d))
	}
	return x, w
}
