package tabular

import (
	"reflect"
	"testing"

	"utvi/nn"
)

// Inputs of more than two values have waves, of about the pitch and from the seed.
func TestFrequencies(t *testing.T) {
	d := rowsOf(100, 3) // the first input is constant
	for i := range 100 {
		d.X.Mean[3*i+1], d.X.Mean[3*i+2] = float32(i%2), float32(i%3)
	}
	c := Candidate{Noise: Learned, KL: 1, Activation: "relu", Width: 4, Depth: 1, Waves: 200, Pitch: 2}
	f := c.frequencies(d, 1)
	if len(f) != 3 || f[0] != nil || f[1] != nil || len(f[2]) != 200 {
		t.Fatalf("frequencies %v", f)
	}
	var square float64
	for _, x := range f[2] {
		square += x * x / 200
	}
	if square < 3 || square > 5 {
		t.Errorf("the mean square is %g, want about 4", square)
	}
	if reflect.DeepEqual(f, c.frequencies(d, 2)) || !reflect.DeepEqual(f, c.frequencies(d, 1)) {
		t.Error("frequencies must depend on the seed alone")
	}
	m, _, err := c.net(d, 1)
	if err != nil {
		t.Fatal(err)
	}
	if !nn.Any(m.Config.Layers, func(l nn.Layer) bool { _, ok := l.(nn.Periodic); return ok }) {
		t.Error("the network has no waves")
	}
	c.Waves = 0
	if c.frequencies(d, 1) != nil {
		t.Error("a candidate without waves has frequencies")
	}
}
