package model_test

import (
	"path/filepath"
	"testing"

	"utvi/model"
	"utvi/moment"
	"utvi/nn"
)

// A user's map is brought along like a function.
func TestUserMap(t *testing.T) {
	swap := &moment.Map{Name: "swap", F: func(x, y []float64) { y[0], y[1] = x[1]*x[0], x[0] }}
	m, err := model.New(model.Config{Input: nn.Vec(3), Layers: nn.Chain{nn.Dense{Out: 2}, nn.Joint{Map: swap}}})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "m")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	_, err = model.Load(path)
	wantError(t, err, `the model needs the map "swap": load it with model.WithMap`)
	again, err := model.Load(path, model.WithMap(swap))
	if err != nil {
		t.Fatal(err)
	}
	x := batch(4, 3)
	if !same(again.NewPredictor(4).Predict(x), m.NewPredictor(4).Predict(x)) {
		t.Error("the loaded model predicts something else")
	}
}
