// Package counts says what the models of counts and the graphs exported from them must agree on.
package counts

import "math"

const (
	// Most is the largest count of a target that likelihoods of counts are tried for: larger
	// ones look continuous.
	Most = 10_000

	// LeastMean is the smallest mean of a count that its doubt is relative to.
	LeastMean = 1e-3

	// MostDispersion is the largest (variance − mean)/mean² of a part of a mixture. Of larger
	// ones almost all probability is at 0, which is not what a large variance should mean.
	MostDispersion = 4
)

// Bound returns the count that a quantile of a distribution that spreads counts belongs to.
func Bound(x float64) float64 { return max(0, math.Ceil(x-0.5)) }
