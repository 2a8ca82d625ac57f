package likelihood

import (
	"errors"
	"math"
)

// Weighted scores rows that have weights: the last target of a row is its weight w ≥ 0,
// the others are the targets of Of, and
//
//	score = w·(−ln p(y | moments))
//
// so a row of weight 2 counts as much as two equal rows. A trainer divides the KL by the
// number of rows: weights with mean 1 keep the balance between the two.
type Weighted struct {
	Of Likelihood `json:"-"`
}

// Kind implements Likelihood.
func (Weighted) Kind() string { return "weighted" }

// Unwrap implements Wrapper.
func (l Weighted) Unwrap() Likelihood { return l.Of }

// Wrap implements Wrapper.
func (Weighted) Wrap(inner Likelihood) Likelihood { return Weighted{Of: inner} }

// String implements Likelihood.
func (l Weighted) String() string { return "weighted " + l.Of.String() }

// NeedsVariance implements Likelihood.
func (l Weighted) NeedsVariance() bool { return l.Of.NeedsVariance() }

// Targets implements Likelihood: the targets of Of and the weight.
func (l Weighted) Targets(outputs int) (int, error) {
	if l.Of == nil {
		return 0, errors.New("likelihood weighted: no likelihood to weigh; set Of")
	}
	n, err := l.Of.Targets(outputs)
	return n + 1, err
}

// Row implements Likelihood. A weight that is negative or not finite scores NaN.
func (l Weighted) Row(y, mean, variance, dmean, dvar []float64) (nll float64, floored int) {
	w := y[len(y)-1]
	nll, floored = l.Of.Row(y[:len(y)-1], mean, variance, dmean, dvar)
	if !(w >= 0) || math.IsInf(w, 1) {
		return math.NaN(), floored
	}
	for i := range dmean {
		dmean[i] *= w
		dvar[i] *= w
	}
	return w * nll, floored
}
