package dist

import "math"

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
func (w Whole) Quantile(p float64) float64 { return WholeBound(w.Dist.Quantile(p)) }

// WholeBound returns the count that a quantile of a Dist that spreads counts belongs to.
func WholeBound(x float64) float64 { return max(0, math.Ceil(x-0.5)) }
