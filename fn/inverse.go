package fn

import (
	"math"
	"utvi/internal/compute/kernel"
	"utvi/internal/special"
	"utvi/moment"
)

// NormalInverse returns g(t) = Φ⁻¹(sigmoid(t)), the inverse transform of a
// standard Normal prior: a Gaussian that enters spread over the logistic scale
// leaves as a Normal one. It is finite for every finite t (see
// special.NormalInverse). An affine prior N(μ, s²) is μ + s·g.
func NormalInverse() *moment.Func {
	return &moment.Func{
		Name: "normal-inverse",
		F:    special.NormalInverse,
		DF: func(t float64) float64 {
			_, d, _ := special.NormalInverseJet(t)
			return d
		},
		D2F: func(t float64) float64 {
			_, _, d := special.NormalInverseJet(t)
			return d
		},
		Op: kernel.OpNormalInverse,
	}
}

// InverseTransform returns Q(sigmoid(t)) for the quantile function Q of any
// prior. slope is Q′(p) = 1/density(Q(p)); nil means central differences.
//
// Beyond |t| ≈ 37 (upwards) and 745 (downwards) the probability would round to
// exactly 1 or 0, where an unbounded prior is infinite. Instead, it stays at the
// nearest float64 inside (0, 1), so f is flat there, and finite wherever Q is
// finite inside (0, 1). For a prior with a long upper tail, a numerically stable
// function of t is better.
func InverseTransform(name string, quantile, slope func(p float64) float64) *moment.Func {
	f := &moment.Func{
		Name: name,
		F:    func(t float64) float64 { return quantile(innerProbability(t)) },
	}
	if slope != nil {
		f.DF = func(t float64) float64 {
			p := innerProbability(t)
			if p != special.Sigmoid(t) {
				return 0 // held: f is flat
			}
			return slope(p) * sigmoidSlope(t)
		}
	}
	return f
}

// innerProbability is sigmoid(t) kept inside the open interval (0, 1).
func innerProbability(t float64) float64 {
	const below1 = 1 - 1.0/(1<<53)
	return max(math.SmallestNonzeroFloat64, min(special.Sigmoid(t), below1))
}
