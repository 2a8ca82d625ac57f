// Package dist holds predictive distributions of one number, and of a class.
//
// The prediction of a row is a Normal, a Mixture of Normals (for an ensemble, or a
// network that predicts its own noise), or one of these in other units (Affine).
// Methods do not allocate. Converting a value to the interface may allocate: a loop
// over rows should keep one distribution, write each row into it and pass its address.
package dist

// A Dist is the predictive distribution of one number. Its density is positive
// wherever a float64 can distinguish it from zero.
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

// Interval returns the central interval that contains the given probability; of counts,
// see Whole.Interval.
func Interval(d Dist, level float64) (lo, hi float64) {
	switch w := d.(type) {
	case Whole:
		return w.Interval(level)
	case *Whole:
		return w.Interval(level)
	}
	return d.Quantile((1 - level) / 2), d.Quantile((1 + level) / 2)
}
