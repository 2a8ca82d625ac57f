package likelihood

import (
	"cmp"
	"fmt"
	"math"
)

// Categorical scores a class: the one target is its index, counted from 0; the outputs
// are the probabilities of the classes, as from nn.Joint{Map: fn.Softmax()}. The
// probability of a class is its mean over the weights, so −ln of the mean is the score of
// the predictive distribution itself. The variances only say how well the networks agree.
//
// Below the floor, −ln p continues along its tangent: it stays finite, and its slope
// still raises p, even if an approximate mean is negative.
type Categorical struct {
	Floor float64 `json:"floor,omitempty"` // smallest probability; 0 means 1e-30, within float32
}

// Kind implements Likelihood.
func (Categorical) Kind() string { return "categorical" }

// String implements Likelihood.
func (l Categorical) String() string { return withFloor("categorical", l.Floor) }

// NeedsVariance implements Likelihood.
func (Categorical) NeedsVariance() bool { return false }

// Targets implements Likelihood: one target, for any number of classes.
func (l Categorical) Targets(outputs int) (int, error) {
	if err := checkFloor("categorical", l.Floor, 0.5); err != nil {
		return 0, err
	}
	if outputs < 2 {
		return 0, fmt.Errorf("likelihood categorical: the network has %d outputs; it needs one for each of at least 2 classes", outputs)
	}
	return 1, nil
}

// Row implements Likelihood. A target that is not a class scores NaN, which stops a
// training.
func (l Categorical) Row(y, mean, variance, dmean, dvar []float64) (nll float64, floored int) {
	clear(dmean)
	clear(dvar)
	class := y[0]
	if !(class >= 0 && class < float64(len(mean)) && class == math.Trunc(class)) {
		return math.NaN(), 0
	}
	nll, dmean[int(class)], floored = surprise(mean[int(class)], cmp.Or(l.Floor, 1e-30))
	return nll, floored
}

// surprise is −ln p and its slope, continued along its tangent below the floor.
func surprise(p, floor float64) (nll, slope float64, floored int) {
	if p < floor {
		return 1 - p/floor - math.Log(floor), -1 / floor, 1
	}
	return -math.Log(p), -1 / p, 0
}

// Bernoulli scores yes or no: every target is 1 or 0 (or a share between), and every
// output is its probability, as from an nn.Apply of a sigmoid or of Φ. Like Categorical,
// it scores the predictive distribution itself, and continues along the tangent below the
// floor.
type Bernoulli struct {
	// Floor is the smallest p and 1−p; 0 means 2⁻²⁴, the limit of
	// float32 near 1.
	Floor float64 `json:"floor,omitempty"`
}

// Kind implements Likelihood.
func (Bernoulli) Kind() string { return "bernoulli" }

// String implements Likelihood.
func (l Bernoulli) String() string { return withFloor("bernoulli", l.Floor) }

// NeedsVariance implements Likelihood.
func (Bernoulli) NeedsVariance() bool { return false }

// Targets implements Likelihood: one target for each output.
func (l Bernoulli) Targets(outputs int) (int, error) {
	if err := checkFloor("bernoulli", l.Floor, 0.5); err != nil {
		return 0, err
	}
	return onePerOutput("bernoulli", outputs)
}

// Row implements Likelihood. A target outside [0, 1] scores NaN.
func (l Bernoulli) Row(y, mean, variance, dmean, dvar []float64) (nll float64, floored int) {
	floor := cmp.Or(l.Floor, 0x1p-24)
	clear(dvar)
	for i, y := range y {
		if !(y >= 0 && y <= 1) {
			return math.NaN(), 0
		}
		dmean[i] = 0
		if y > 0 {
			s, slope, low := surprise(mean[i], floor)
			nll += y * s
			dmean[i] += y * slope
			floored += low
		}
		if y < 1 {
			s, slope, low := surprise(1-mean[i], floor)
			nll += (1 - y) * s
			dmean[i] -= (1 - y) * slope
			floored += low
		}
	}
	return nll, floored
}

// Predict implements Predictive.
func (Bernoulli) Predict(mean, variance, ymean, yvar []float64) {
	for i, p := range mean {
		p = min(max(p, 0), 1)
		ymean[i], yvar[i] = p, p*(1-p)
	}
}

// Score implements Predictive.
func (l Bernoulli) Score(y, mean, variance []float64) (nll float64) {
	for i := range y {
		var dm, dv [1]float64
		n, _ := l.Row(y[i:i+1], mean[i:i+1], variance[i:i+1], dm[:], dv[:])
		nll += n
	}
	return nll
}
