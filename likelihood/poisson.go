package likelihood

import "math"

// Poisson scores counts: every output is the logarithm ℓ of a rate. For ℓ ~
// N(m, v) the expected score is
//
//	E_q[−ln Poisson(y; e^ℓ)] = e^x − y·m + ln y!,   x = m + v/2
//
// Above x = 30 the exponential continues along its tangent, and counts as floored.
type Poisson struct{}

// Kind implements Likelihood.
func (Poisson) Kind() string { return "poisson" }

// String implements Likelihood.
func (Poisson) String() string { return "poisson" }

// NeedsVariance implements Likelihood.
func (Poisson) NeedsVariance() bool { return false }

// Targets implements Likelihood: one target for each output.
func (Poisson) Targets(outputs int) (int, error) { return onePerOutput("poisson", outputs) }

const mostLogRate = 30

// Row implements Likelihood. A negative count scores NaN.
func (Poisson) Row(y, mean, variance, dmean, dvar []float64) (nll float64, floored int) {
	for i, y := range y {
		if !(y >= 0) {
			return math.NaN(), 0
		}
		x := mean[i] + variance[i]/2
		slope := math.Exp(min(x, mostLogRate))
		rate := slope
		if x > mostLogRate {
			rate *= 1 + x - mostLogRate
			floored++
		}
		nll += rate - y*mean[i] + logFactorial(y)
		dmean[i], dvar[i] = slope-y, slope/2
	}
	return nll, floored
}

func logFactorial(y float64) float64 {
	l, _ := math.Lgamma(y + 1)
	return l
}

// Predict implements Predictive: mean λ = e^x and variance λ + λ²(e^v − 1), at
// most 1e300.
func (Poisson) Predict(mean, variance, ymean, yvar []float64) {
	for i, v := range variance {
		rate := math.Exp(min(mean[i]+v/2, 300))
		ymean[i], yvar[i] = rate, min(rate+rate*rate*math.Expm1(min(v, 600)), 1e300)
	}
}

// Score implements Predictive: the probability of the count, averaged over ℓ.
func (Poisson) Score(y, mean, variance []float64) (nll float64) {
	for i, y := range y {
		s := math.Sqrt(variance[i])
		nll += logFactorial(y) - logMean(func(xi float64) float64 {
			l := mean[i] + s*xi
			return y*l - math.Exp(min(l, 700))
		})
	}
	return nll
}
