package device_test

import (
	"math"
	"os"
	"strings"
	"testing"

	"utvi/data"
	"utvi/engine"
	"utvi/engine/enginetest"
	"utvi/engine/gpu"
	"utvi/gauss"
	"utvi/internal/cuda"
	"utvi/internal/device"
	"utvi/likelihood"
	"utvi/model"
	"utvi/moment"
	"utvi/nn"
	"utvi/optim"
	"utvi/train"
)

// needsCard skips a test where there is no card.
func needsCard(t *testing.T) {
	t.Helper()
	_, err := gpu.Open("cuda")
	if err == nil {
		return
	}
	if os.Getenv(cuda.LibraryVariable) != "" {
		t.Fatal(err)
	}
	t.Skipf("not run: %v; set %s to the library of internal/cuda/emulator to run it on the processor", err, cuda.LibraryVariable)
}

// The processor needs no card, and a name is judged before anything is opened.
func TestNames(t *testing.T) {
	e, err := device.Choose("cpu", nil)
	if err != nil || e.Name() != "cpu" {
		t.Errorf("cpu is %v, %v", e, err)
	}
	for _, good := range []string{"cpu", "auto", "cuda", "cuda:3"} {
		if err := device.Check(good); err != nil {
			t.Error(err)
		}
	}
	for _, bad := range []string{"", "gpu", "cuda:", "cuda:-1", "cpu:1"} {
		if device.Check(bad) == nil {
			t.Errorf("%q is a device", bad)
		}
		if e, err := device.Choose(bad, nil); err == nil || e != nil {
			t.Errorf("%q is the device %v", bad, e)
		}
	}
}

// What falls back to the CPU is an engine like any other.
func TestAutoConforms(t *testing.T) {
	needsCard(t)
	enginetest.Run(t, func() engine.Engine[float32] {
		e, err := device.Choose("auto", nil)
		if err != nil {
			t.Fatal(err)
		}
		return e
	})
}

// With auto, the CPU trains and predicts what the card cannot, and says so.
func TestAuto(t *testing.T) {
	needsCard(t)
	var said []string
	e, err := device.Choose("auto", func(reason error) { said = append(said, reason.Error()) })
	if err != nil {
		t.Fatal(err)
	}
	m, err := model.New(model.Config{Input: nn.Vec(1), Seed: 5, Layers: nn.Chain{nn.Dense{Out: 4}, nn.Apply{F: &moment.Func{Name: "code", F: math.Cbrt}}, nn.Dense{Out: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	table, err := data.NewTable(gauss.Fixed(1, []float32{-1, 0, 1, 2}), 1, []float32{1, 2, 3, 4})
	if err != nil {
		t.Fatal(err)
	}
	tr, err := train.New(m, train.Config{Engine: e, Data: table, Batch: 2, Steps: 3, Optimizer: optim.Paper(), Likelihood: likelihood.Normal{}, Workers: 1})
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

// Without a card, auto takes the CPU and says why.
func TestAutoWithoutCard(t *testing.T) {
	if _, err := gpu.Open("cuda"); err == nil {
		t.Skip("this machine has a card")
	}
	said := ""
	e, err := device.Choose("auto", func(reason error) { said = reason.Error() })
	if err != nil || e.Name() != "cpu" || !strings.HasPrefix(said, "the CPU is used: device cuda: ") {
		t.Errorf("%v, %v, said %q", e, err, said)
	}
}
