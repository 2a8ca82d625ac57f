// Package likelihood scores predicted moments against targets.
package likelihood

import (
	"cmp"
	"math"
)

// A Likelihood scores one row. It works in float64 and has no parameters: noise
// that is learned is a layer. It is stored with a model as its Kind and the fields
// that JSON sees.
//
// These methods are enough for training. A model can predict targets only if its
// likelihood also implements Predictive or [Splitter]; [Describer] says more about the
// outputs. What is predicted is a Normal of the mean and the variance that they give.
type Likelihood interface {
	// Kind returns the name of the likelihood in model files.
	Kind() string

	// String describes the likelihood in one line.
	String() string

	// Targets returns how many targets a row has for the given number of
	// outputs, or why it cannot serve them. No outputs, Targets(0), must be an error.
	Targets(outputs int) (int, error)

	// Row returns −ln p(y) for the predicted moments, and how many variances were
	// raised to the floor, or other moments moved to their bound. It writes the
	// gradient with respect to the moments to dmean and dvar.
	Row(y, mean, variance, dmean, dvar []float64) (nll float64, floored int)

	// NeedsVariance reports whether predictions without variance, as from drawn
	// weights, cannot be scored because the noise is missing.
	NeedsVariance() bool
}

// Predictive is implemented by likelihoods that predict numbers. If Row is the score
// of the predictive distribution, Score is Row.
type Predictive interface {
	Likelihood

	// Predict writes the mean and variance of each target, including noise.
	Predict(mean, variance, ymean, yvar []float64)

	// Score returns −ln E_q[p(y|w)], the score of the predictive distribution. It
	// compares predictions, independent of the likelihood of the training.
	Score(y, mean, variance []float64) float64
}

// Normal scores each output by −ln N(y; mean, variance). The variance is the
// propagated one: noise and doubt together. The score approximates −ln E_q[p(y|w)],
// the score of the predictive distribution, not the expected score −E_q[ln p(y|w)].
type Normal struct {
	Floor float64 `json:"floor,omitempty"` // smallest variance; 0 means 1e-6
}

// Kind implements Likelihood.
func (Normal) Kind() string { return "normal" }

// String implements Likelihood.
func (l Normal) String() string { return withFloor("normal", l.Floor) }

// NeedsVariance implements Likelihood: the variance holds the noise.
func (Normal) NeedsVariance() bool { return true }

// Targets implements Likelihood: one target for each output.
func (l Normal) Targets(outputs int) (int, error) {
	if err := checkFloor("normal", l.Floor, math.MaxFloat64); err != nil {
		return 0, err
	}
	return onePerOutput("normal", outputs)
}

const halfLog2Pi = 0.918938533204672741780329736405617640

// Row implements Likelihood. Below the floor, the gradient with respect to the
// variance is kept only if it raises the variance.
func (l Normal) Row(y, mean, variance, dmean, dvar []float64) (nll float64, floored int) {
	floor := l.floor()
	for i, y := range y {
		v, e := variance[i], mean[i]-y
		low := v < floor
		if low {
			v = floor
			floored++
		}
		nll += normalNLL(e, v)
		dmean[i] = e / v
		dvar[i] = 0.5 / v * (1 - e*e/v)
		if low && dvar[i] > 0 {
			dvar[i] = 0
		}
	}
	return nll, floored
}

func (l Normal) floor() float64 { return cmp.Or(l.Floor, 1e-6) }

// normalNLL is −ln N(e; 0, v).
func normalNLL(e, v float64) float64 {
	return halfLog2Pi + 0.5*math.Log(v) + 0.5*e*e/v
}

// Predict implements Predictive.
func (l Normal) Predict(mean, variance, ymean, yvar []float64) {
	for i, v := range variance {
		ymean[i], yvar[i] = mean[i], max(v, l.floor())
	}
}

// Score implements Predictive.
func (l Normal) Score(y, mean, variance []float64) (nll float64) {
	for i, y := range y {
		nll += normalNLL(mean[i]-y, max(variance[i], l.floor()))
	}
	return nll
}
