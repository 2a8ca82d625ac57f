package fit_test

import (
	"path/filepath"
	"testing"

	"utvi/data"
	"utvi/fit"
	"utvi/fn"
	"utvi/gauss"
	"utvi/likelihood"
	"utvi/model"
	"utvi/nn"
	"utvi/predict"
)

// A network of another program with the columns of its rows predicts what it predicts without
// them, also once it was stored.
func TestOfNetwork(t *testing.T) {
	rows := data.Set{X: gauss.Batch[float32]{Rows: 40, Width: 2}, Targets: 1}
	for i := range 40 {
		rows.X.Mean = append(rows.X.Mean, float32(i%7)*10, float32(i%5)-2)
		rows.Y = append(rows.Y, float32(i%2))
	}
	for _, c := range []struct {
		classes int
		layers  nn.Chain
		scores  likelihood.Likelihood
	}{
		{0, nn.Chain{nn.Dense{Out: 1}, nn.Noise{Start: 0.5}}, likelihood.Normal{}},
		{2, nn.Chain{nn.Dense{Out: 2}, nn.Joint{Map: fn.Softmax()}}, likelihood.Categorical{}},
	} {
		n, err := model.New(model.Config{Input: nn.Vec(2), Layers: c.layers, Seed: 3})
		if err != nil {
			t.Fatal(err)
		}
		n.Likelihood = c.scores
		m, err := fit.OfNetwork(n, rows, fit.NetworkTable{Columns: []string{"a", "y", "b"}, Targets: []string{"y"}, Named: true, Classes: c.classes})
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "m.utvi")
		if err := m.Save(path); err != nil {
			t.Fatal(err)
		}
		m, err = fit.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		p, err := m.NewPredictor(predict.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := p.Row(t.Context(), map[string]any{"b": 2.0, "a": 30.0})
		if err != nil {
			t.Fatal(err)
		}
		want := n.NewPredictor(1).Predict(gauss.Fixed(2, []float32{30, 2}))
		if c.classes > 0 {
			if p := got.Class.Probabilities[1]; float32(p) != want.Mean[1] {
				t.Errorf("the class has the probability %v, want %v", p, want.Mean[1])
			}
			continue
		}
		if y := got.Numbers[0]; float32(y.Mean) != want.Mean[0] {
			t.Errorf("the mean is %v, want %v", y.Mean, want.Mean[0])
		}
	}
}
