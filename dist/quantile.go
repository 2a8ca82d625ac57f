package dist

import (
	"math"

	"utvi/special"
)

// Quantile implements Dist. The quantile lies between the smallest and the largest of
// the parts' own. Within this bracket Newton's method solves
//
//	ln P(X ≤ x) = ln p     (or ln P(X > x) = ln(1−p) above the median)
//
// whose tails are nearly parabolas; a step that leaves the bracket, or that halves it
// too slowly, is a bisection instead.
func (m *Mixture) Quantile(p float64) float64 {
	z := special.Quantile(p)
	if math.IsInf(z, 0) || math.IsNaN(z) {
		return z
	}
	lo, hi, least := math.Inf(1), math.Inf(-1), math.Inf(1)
	for i := range m.parts {
		q := &m.parts[i]
		x := q.mu + z*q.sigma
		lo, hi, least = min(lo, x), max(hi, x), min(least, q.sigma)
	}
	side, target := 1.0, p
	if p > 0.5 {
		side, target = -1, 1-p
	}
	x, last := min(max(m.Mean()+z*m.SD(), lo), hi), hi-lo
	for range 200 {
		f, density := m.slope(x, side)
		step := -side * math.Log(f/target) * f / density
		if math.Abs(step) <= 1e-9*least { // the next would be below 1e-16 of a deviation
			return x + step
		}
		if side*(f-target) > 0 {
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

// slope returns the tail on one side of x and the density there: what CDF and LogPDF
// give in more than twice the time, for levels that are floats.
func (m *Mixture) slope(x, side float64) (tail, density float64) {
	for i := range m.parts {
		p := &m.parts[i]
		z := side * (x - p.mu) / p.sigma
		tail += p.w * math.Erfc(-z/math.Sqrt2)
		density += p.w / p.sigma * math.Exp(-z*z/2)
	}
	return tail / 2 / m.total, density * math.Sqrt2 / 2 * invSqrtPi / m.total
}
