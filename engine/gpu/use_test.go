package gpu_test

import (
	"testing"

	"utvi/engine"
	"utvi/engine/gpu"
	"utvi/moment"
)

// A network that uses a card predicts as before, with input variances and without noise
// too.
func TestUse(t *testing.T) {
	e := card(t)
	m := smallNet(t, moment.UT(2))
	for _, variances := range []bool{false, true} {
		x := rows(20, 1, variances)
		want := m.NewPredictor(20).Predict(x)
		mean, variance := append([]float32(nil), want.Mean...), append([]float32(nil), want.Var...)
		if err := m.Use(e); err != nil {
			t.Fatal(err)
		}
		got := m.NewPredictor(20).Predict(x)
		if off(got.Mean, mean) > 2e-6 || off(got.Var, variance) > 5e-6 {
			t.Errorf("variances %v: the predictions differ", variances)
		}
		if err := m.Use(engine.CPU[float32]()); err != nil {
			t.Fatal(err)
		}
	}
}

func TestDeviceNames(t *testing.T) {
	for name, want := range map[string]int{"cuda": 0, "cuda:0": 0, "cuda:3": 3, "cuda:": -1, "cuda:-1": -1, "cuda:x": -1, "gpu": -1, "": -1} {
		n, err := gpu.Number(name)
		if (err != nil) != (want < 0) || err == nil && n != want {
			t.Errorf("%q: %d, %v", name, n, err)
		}
	}
}
