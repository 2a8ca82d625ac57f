package dist

import (
	"math"

	"utvi/internal/counts"
)

// Whole is the distribution of a count whose probability a Dist spreads over ± ½, as
// Counts does, also scaled or bent: quantiles are whole numbers, and P(X ≤ x) has steps.
type Whole struct{ Dist }

// LogPDF implements Dist: the logarithm of the probability of the count nearest to x.
func (w Whole) LogPDF(x float64) float64 {
	const exact = 1e-6
	if mass := w.CDF(math.Round(x)) - w.Below(x); mass > exact {
		return math.Log(mass)
	}
	return w.Dist.LogPDF(math.Round(x))
}

// CDF implements Dist.
func (w Whole) CDF(x float64) float64 {
	n := math.Floor(x)
	if !(n >= 0) {
		return 0
	}
	return w.Dist.CDF(n + 0.5)
}

// Below returns P(X < n) for the count n nearest to x.
func (w Whole) Below(x float64) float64 {
	n := math.Round(x)
	if !(n > 0) {
		return 0
	}
	return w.Dist.CDF(n - 0.5)
}

// Quantile implements Dist: the smallest count with P(X ≤ n) ≥ p.
func (w Whole) Quantile(p float64) float64 { return counts.Bound(w.Dist.Quantile(p)) }

// Interval returns an interval of counts that contains at least the given probability. The
// central interval contains more, because its ends are whole: counts at its ends are left
// out, the less probable one first, while the rest is enough.
func (w Whole) Interval(level float64) (lo, hi float64) {
	lo, hi = w.Quantile((1-level)/2), w.Quantile((1+level)/2)
	below, upTo := w.Below(lo), w.CDF(hi)
	for lo < hi {
		first, last := w.CDF(lo), w.Below(hi) // what stays below without each end
		switch dropLow := first-below < upTo-last; {
		case dropLow && upTo-first >= level:
			lo, below = lo+1, first
		case last-below >= level:
			hi, upTo = hi-1, last
		case upTo-first >= level:
			lo, below = lo+1, first
		default:
			return lo, hi
		}
	}
	return lo, hi
}
