package likelihood

import (
	"fmt"
	"math"
)

// ExpectedNormal scores each output by the expected score under noise of a known
// standard deviation τ. The variance of the output is the doubt of the weights only:
//
//	E_q[−ln N(y; f, τ²)] = ½ ln 2πτ² + ((m−y)² + v)/2τ²
//
// With the KL it is the evidence lower bound exactly as defined; Normal gives a tighter
// bound. The network must not add noise (no nn.Noise): noise and doubt could not be
// separated in one variance. To learn the noise, use Heteroscedastic, where it is a
// second output.
type ExpectedNormal struct {
	Std float64 `json:"std"` // τ
}

// Kind implements Likelihood.
func (ExpectedNormal) Kind() string { return "expected_normal" }

// String implements Likelihood.
func (l ExpectedNormal) String() string { return fmt.Sprintf("expected normal, noise %g", l.Std) }

// NeedsVariance implements Likelihood.
func (ExpectedNormal) NeedsVariance() bool { return false }

// Targets implements Likelihood: one target for each output.
func (l ExpectedNormal) Targets(outputs int) (int, error) {
	// t-t == 0 will not do: where products are fused it is the rounding error of t.
	if t := l.Std * l.Std; !(l.Std > 0 && t > 0 && t <= math.MaxFloat64) {
		return 0, fmt.Errorf("likelihood expected normal: the noise has standard deviation %v; it must be a number > 0", l.Std)
	}
	return onePerOutput("expected normal", outputs)
}

// Row implements Likelihood. Nothing needs a floor.
func (l ExpectedNormal) Row(y, mean, variance, dmean, dvar []float64) (nll float64, floored int) {
	t := l.Std * l.Std
	for i, y := range y {
		e := mean[i] - y
		nll += normalNLL(e, t) + 0.5*variance[i]/t
		dmean[i], dvar[i] = e/t, 0.5/t
	}
	return nll, 0
}

// Predict implements Predictive.
func (l ExpectedNormal) Predict(mean, variance, ymean, yvar []float64) {
	for i, v := range variance {
		ymean[i], yvar[i] = mean[i], v+l.Std*l.Std
	}
}

// Score implements Predictive.
func (l ExpectedNormal) Score(y, mean, variance []float64) (nll float64) {
	for i, y := range y {
		nll += normalNLL(mean[i]-y, variance[i]+l.Std*l.Std)
	}
	return nll
}
