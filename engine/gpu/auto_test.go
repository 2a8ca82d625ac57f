package gpu_test

import (
	"math"
	"strings"
	"testing"

	"utvi/engine"
	"utvi/engine/gpu"
	"utvi/gauss"
	"utvi/model"
	"utvi/moment"
	"utvi/nn"
	"utvi/train"
)

// With auto, the CPU trains and predicts what the card cannot, and says so.
func TestAuto(t *testing.T) {
	card(t)
	var said []string
	e, err := gpu.Choose("auto", func(reason error) { said = append(said, reason.Error()) })
	if err != nil {
		t.Fatal(err)
	}
	m, err := model.New(model.Config{Input: nn.Vec(1), Seed: 5, Layers: nn.Chain{nn.Dense{Out: 4}, nn.Apply{F: &moment.Func{Name: "code", F: math.Cbrt}}, nn.Dense{Out: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	tr, err := train.New(m, settings(t, e, 3))
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	if err := tr.AdvanceTo(3, nil); err != nil {
		t.Fatal(err)
	}
	x := gauss.Fixed(1, []float32{0.5, -1})
	want := append([]float32(nil), m.NewPredictor(2).Predict(x).Mean...)
	if err := m.Use(e); err != nil {
		t.Fatal(err)
	}
	if got := m.NewPredictor(2).Predict(x).Mean; got[0] != want[0] || got[1] != want[1] {
		t.Errorf("got %v, want %v", got, want)
	}
	if len(said) != 2 || !strings.Contains(said[0], "the CPU is used: network: layer 1.apply") {
		t.Errorf("said %q", said)
	}
}

// A user hears what a first start waits for.
func TestNotice(t *testing.T) {
	card(t)
	said := ""
	e, err := gpu.Choose("cuda", func(reason error) { said = reason.Error() })
	if err != nil {
		t.Fatal(err)
	}
	if e.(*gpu.Engine).Slow(); !strings.HasPrefix(said, "the driver compiles the kernels for ") {
		t.Errorf("said %q", said)
	}
}

// Without a card, auto takes the CPU and says why.
func TestAutoWithoutCard(t *testing.T) {
	if _, err := gpu.Open("cuda"); err == nil {
		t.Skip("this machine has a card")
	}
	said := ""
	e, err := gpu.Choose("auto", func(reason error) { said = reason.Error() })
	if err != nil || e.Name() != "cpu" || !strings.HasPrefix(said, "the CPU is used: device cuda: ") {
		t.Errorf("%v, %v, said %q", e, err, said)
	}
}

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
