package dist

import (
	"math"

	"utvi/internal/special"
)

// Quantile implements Dist. The quantile lies between the smallest and the largest
// quantile of the parts. Within this bracket Halley's method solves g(x) = 0,
//
//	g = ln P(X ≤ x) − ln p     (or ln P(X > x) − ln(1−p) above the median)
//	step = n/(1 + n·g″/2g′) ,   n = −g/g′
//
// whose tails are nearly parabolas. A step that leaves the bracket, or is longer than
// the last, is a bisection instead.
func (m *Mixture) Quantile(p float64) float64 {
	z := special.Quantile(p)
	if math.IsInf(z, 0) || math.IsNaN(z) {
		return z
	}
	lo := math.Inf(1)
	hi := math.Inf(-1)
	least := math.Inf(1)
	for i := range m.parts {
		q := &m.parts[i]
		x := q.mu + z*q.sigma
		lo = min(lo, x)
		hi = max(hi, x)
		least = min(least, q.sigma)
	}
	side, target := 1.0, p
	if p > 0.5 {
		side, target = -1, 1-p
	}
	x, last := min(max(m.Mean()+z*m.SD(), lo), hi), hi-lo
	for range 200 {
		step, above := m.halley(x, side, target)
		if math.Abs(step) <= 1e-6*least { // the next would be below 1e-16 of a deviation
			return min(max(x+step, lo), hi)
		}
		if above {
			hi = x
		} else {
			lo = x
		}
		next := x + step
		if !(next > lo && next < hi) || math.Abs(step) > last {
			next = lo + (hi-lo)/2
		}
		if next == x {
			break
		}
		x, last = next, math.Abs(next-x)
	}
	return x
}

// halley returns the step from x, and whether x lies above the quantile. Erfc and Exp serve for
// tails that are floats, in less than half the time of CDF and LogPDF.
func (m *Mixture) halley(x, side, target float64) (step float64, above bool) {
	var tail, density, slope float64
	for i := range m.parts {
		p := &m.parts[i]
		z := side * p.z(x)
		f := p.w * p.inv * math.Exp(-0.5*z*z)
		tail += p.w * math.Erfc(-z/math.Sqrt2)
		density += f
		slope -= f * z * p.inv
	}
	tail /= 2 * m.total
	h := density * (math.Sqrt2 / 2 * invSqrtPi) / m.total / tail // |g′|
	n := -math.Log(tail/target) / h
	// g″/g′ = f′/f − g′; far from the root only its sign can be trusted.
	n /= min(max(1+0.5*n*(slope/density-h), 0.5), 2)
	return side * n, side*(tail-target) > 0
}
