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
	lo, hi := math.Inf(1), math.Inf(-1)
	for i := range m.parts {
		q := &m.parts[i]
		x := q.mu + z*q.sigma
		lo, hi = min(lo, x), max(hi, x)
	}
	side, target := 1.0, p
	if p > 0.5 {
		side, target = -1, 1-p
	}
	x := min(max(m.Mean()+z*m.SD(), lo), hi)
	last := hi - lo
	for range 200 {
		if !(hi > lo) {
			break
		}
		f := m.tail(x, side)
		if side*(f-target) > 0 {
			hi = x
		} else {
			lo = x
		}
		step := -side * math.Log(f/target) * f / math.Exp(m.LogPDF(x))
		next := x + step
		if !(next > lo && next < hi) || math.Abs(step) > last/2 {
			next = lo + (hi-lo)/2
			step = next - x
		}
		last = math.Abs(step)
		if last <= 4e-16*(math.Abs(x)+hi-lo) || next == x {
			return next
		}
		x = next
	}
	return x
}
