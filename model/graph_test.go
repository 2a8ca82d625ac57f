package model_test

import (
	"path/filepath"
	"reflect"
	"testing"

	"utvi/fn"
	"utvi/model"
	"utvi/nn"
	"utvi/vi"
)

// A network with a graph is saved, listed and verified as any other.
func TestGraph(t *testing.T) {
	tanh := nn.Apply{F: fn.Tanh()}
	graph := nn.Graph{
		Inputs: []nn.Input{{Name: "image", Shape: nn.Shape{H: 3, W: 3, C: 1}}, {Name: "numbers", Shape: nn.Vec(2)}},
		Steps: []nn.Step{
			{Name: "seen", Layer: nn.Chain{nn.Conv2D{Out: 4, Kernel: [2]int{2, 2}}, tanh}, From: []string{"image"}},
			{Name: "gate", Layer: nn.Dense{Out: 4}, From: []string{"numbers"}},
			{Name: "gated", Layer: nn.Product{}, From: []string{"seen", "gate"}},
			{Name: "out", Layer: nn.Dense{Out: 1}, From: []string{"gated", "seen"}},
		},
	}
	build := func(layers nn.Chain) *model.Model {
		m, err := model.New(model.Config{Input: nn.Vec(11), Layers: layers, Seed: 3, Init: vi.Std(0.1)})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	m := build(nn.Chain{graph})
	path := filepath.Join(t.TempDir(), "a.safetensors")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	again, err := model.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	x := batch(9, 11)
	if !same(m.NewPredictor(9).Predict(x), again.NewPredictor(9).Predict(x)) {
		t.Error("the loaded model predicts something else")
	}
	var got [][]string
	for _, l := range again.Inspect().Layers {
		got = append(got, append([]string{l.Name, l.Options}, l.From...))
	}
	want := [][]string{
		{"0.graph.seen.0.conv2d", "out=4 kernel=[2 2]", "image"}, {"0.graph.seen.1.apply", "f=tanh rule=gh(9)"},
		{"0.graph.gate", "out=4", "numbers"}, {"0.graph.gated", "", "seen", "gate"}, {"0.graph.out", "out=1", "gated", "seen"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("layers\n%q\nwant\n%q", got, want)
	}
	assumes := func(m *model.Model) (names []string) {
		for _, l := range verify(t, m, 2, model.VerifyConfig{Networks: 2}).Layers {
			if l.AssumesIndependence {
				names = append(names, l.Name)
			}
		}
		return names
	}
	// The places of an image share weights, and the roads come from one signal.
	if got, want := assumes(m), []string{"0.graph.gated", "0.graph.out"}; !reflect.DeepEqual(got, want) {
		t.Errorf("%q assume independence, want %q", got, want)
	}
	if got := assumes(build(nn.Correlate(nn.Chain{graph}))); len(got) > 0 {
		t.Errorf("%q assume independence within Correlated", got)
	}
}
