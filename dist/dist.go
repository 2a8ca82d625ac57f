// Package dist holds predictive distributions of one number, and of a class.
//
// A row's prediction is a Normal, or a Mixture of Normals (an ensemble; a network
// that predicts its own noise), or one of these in other units (Affine). Methods
// allocate nothing. Converting a value to the interface may: a loop over rows keeps
// one distribution, writes each row's into it and passes its address.
package dist

// A Dist is the predictive distribution of one number. It has a density that is
// positive wherever a float64 can tell it from zero.
type Dist interface {
	Mean() float64
	SD() float64

	// LogPDF returns the natural logarithm of the density at x.
	LogPDF(x float64) float64

	// CDF returns P(X ≤ x), with relative accuracy in the lower tail.
	CDF(x float64) float64

	// Quantile returns the x with CDF(x) = p: ∓Inf at 0 and 1, NaN outside.
	Quantile(p float64) float64

	// CRPS returns the continuous ranked probability score of y,
	//
	//	∫ (P(X ≤ x) − [y ≤ x])² dx = E|X − y| − ½ E|X − X′| ,
	//
	// in the unit of y; less is better (Gneiting & Raftery 2007).
	CRPS(y float64) float64
}

// Interval returns the central interval that holds the given probability.
func Interval(d Dist, level float64) (lo, hi float64) {
	return d.Quantile((1 - level) / 2), d.Quantile((1 + level) / 2)
}
