package model_test

import (
	"context"
	"math"
	"testing"

	"utvi/data"
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

// Covariances of inputs are refused where they would be left out, and used where they can be.
func TestInputsWithCovariances(t *testing.T) {
	m, err := model.New(model.Config{Input: nn.Vec(2), Layers: nn.Chain{nn.Dense{Out: 1, Fixed: true}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range m.Params.Tensors {
		for i := range w.Mean {
			w.Mean[i] = 1
		}
	}
	x := gauss.Batch[float32]{Rows: 1, Width: 2, Mean: []float32{0, 0}, Var: []float32{1, 1}, Cov: []float32{1, 0.9, 0.9, 1}}
	const want = "the inputs have covariances"
	_, err = m.NewPredictor(1).TryPredict(x)
	wantError(t, err, want)
	_, err = data.NewTable(x, 1, []float32{1})
	wantError(t, err, want)
	y, err := m.Covariances(x, 1)
	if err != nil || math.Abs(y.Var[0]-3.8) > 1e-6 {
		t.Errorf("the variance of a sum is %v, %v; want 3.8", y.Var, err)
	}
}
