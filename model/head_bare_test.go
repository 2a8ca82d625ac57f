package model_test

import (
	"testing"

	"utvi/likelihood"
	"utvi/model"
	"utvi/nn"
)

// bareLikelihood has no more than what training needs.
type bareLikelihood struct{ of likelihood.Normal }

func (bareLikelihood) Kind() string               { return "bare" }
func (bareLikelihood) String() string             { return "bare" }
func (bareLikelihood) Targets(n int) (int, error) { return n, nil }
func (bareLikelihood) NeedsVariance() bool        { return false }
func (l bareLikelihood) Row(y, mean, variance, dmean, dvar []float64) (float64, int) {
	return l.of.Row(y, mean, variance, dmean, dvar)
}

// Nobody knows the noise of a likelihood that says nothing about predictions.
func TestHeadOfABareLikelihood(t *testing.T) {
	m := build(t, 2, nn.Dense{Out: 1})
	m.Likelihood = likelihood.Weighted{Of: bareLikelihood{}}
	_, err := (&model.Ensemble{Members: []*model.Model{m}}).NewHead(1)
	wantError(t, err, "the likelihood bare cannot predict: it must implement likelihood.Predictive (Predict, Score) or likelihood.Splitter (Split)")
}
