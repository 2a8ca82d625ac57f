package model_test

import (
	"context"
	"testing"

	"utvi/fn"
	"utvi/gauss"
	"utvi/model"
	"utvi/moment"
	"utvi/nn"
)

// A network may take fixed inputs only: a rule that draws cannot carry correlations.
// Inputs with variances get an error, not a panic, from all that return one.
func TestInputsWithVariancesRefused(t *testing.T) {
	m, err := model.New(model.Config{Input: nn.Vec(2), Layers: nn.Correlate(nn.Chain{
		nn.Apply{F: fn.Tanh(), Rule: moment.MonteCarlo(4)}, nn.Dense{Out: 3}})})
	if err != nil {
		t.Fatal(err)
	}
	x := gauss.New[float32](1, 2)
	const want = "cannot carry correlations"
	_, err = m.NewPredictor(1).TryPredict(x)
	wantError(t, err, want)
	_, err = m.Verify(context.Background(), x, model.VerifyConfig{Networks: 2})
	wantError(t, err, want)
	x.Var = nil
	if _, err := m.NewPredictor(1).TryPredict(x); err != nil {
		t.Error(err)
	}
}
