package train_test

import (
	"context"
	"testing"

	"utvi/data"
	"utvi/fn"
	"utvi/likelihood"
	"utvi/model"
	"utvi/nn"
	"utvi/rng"
	"utvi/train"
	"utvi/vi"
)

// Inputs far from zero, of another size, hardly matter to a network with BatchNorm, six layers deep; the
// statistics are those of the rows.
func TestBatchNorm(t *testing.T) {
	const shift, scale = 40, 5
	layers := nn.Chain{nn.BatchNorm{}}
	for range 6 {
		layers = append(layers, nn.Dense{Out: 12}, nn.BatchNorm{}, nn.Apply{F: fn.ReLU()})
	}
	layers = append(layers, nn.Dense{Out: 1}, nn.Noise{})
	m, err := model.New(model.Config{Input: nn.Vec(3), Layers: layers, Seed: 3, Init: vi.Std(0.02)})
	if err != nil {
		t.Fatal(err)
	}
	rows := &data.Generator{N: 1000, In: 3, Out: 1, Generate: func(key rng.Key, row uint64, x, y []float32) {
		for i := range x {
			x[i] = float32(rng.Normal(key, 8*row+uint64(i)))
		}
		y[0] = max(x[0], x[1]) + 0.1*float32(rng.Normal(key, 8*row+7))
		for i := range x {
			x[i] = scale*x[i] + shift
		}
	}}
	tr, err := train.New(m, train.Config{Data: rows, Likelihood: likelihood.Normal{}, Batch: 100, Steps: 400, Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	var last float64
	for s, err := range tr.Steps(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		if s.Step > 350 {
			last += s.NLL / 50
		}
	}
	if last > 0.4 { // the mean alone has 1.25
		t.Errorf("the loss is %.2f", last)
	}
	for i, want := range []float32{shift, scale * scale} {
		for _, x := range m.Params.Tensors[2+i].Mean {
			if x < 0.9*want || x > 1.1*want {
				t.Errorf("%s: %v, want about %v", m.Params.Tensors[2+i].Name, x, want)
			}
		}
	}
}
