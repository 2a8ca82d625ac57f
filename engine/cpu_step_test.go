package engine

import (
	"slices"
	"testing"

	"utvi/data"
	"utvi/fn"
	"utvi/internal/compute"
	"utvi/likelihood"
	"utvi/moment"
	"utvi/nn"
	"utvi/optim"
	"utvi/rng"
)

// stepTrainer returns a trainer of a network on one fixed batch.
func stepTrainer(t *testing.T, in, batch, workers int, clip float64, layers nn.Chain) *trainer {
	t.Helper()
	g := &data.Generator{N: batch, In: in, Out: 1, Generate: func(_ rng.Key, row uint64, x, y []float32) {
		for i := range x {
			x[i] = float32(rng.Normal(rng.New(1), row<<32+uint64(i)))
		}
		y[0] = x[0]
	}}
	tr, err := CPU[float32]().Train(newNetwork(t, nn.Vec(in), layers), Job{Data: g, Likelihood: likelihood.Heteroscedastic{},
		Optimizer: optim.AdamW{Beta1: 0.9, Beta2: 0.99, Epsilon: 1e-8, Clip: clip}, Batch: batch, Pool: compute.NewPool(workers)})
	if err != nil {
		t.Fatal(err)
	}
	return tr.(*trainer)
}

// Every range is updated once and every tile prepared once, its weights before it: steps
// in tasks have the bits of steps that update all ranges and then prepare all tiles.
func TestStepTasks(t *testing.T) {
	act := nn.Apply{F: fn.LeakyReLU(0.01), Rule: moment.UT(2)}
	for name, c := range map[string]struct {
		in, owned int
		layers    nn.Chain
	}{
		"whole ranges":  {40, 3 + 64, nn.Chain{nn.Dense{Out: 256}, act, nn.Dense{Out: 1024}, act, nn.Dense{Out: 2}}},
		"halves":        {100, 4 + 4 + 1, nn.Chain{nn.Dense{Out: 128}, act, nn.Residual{Branch: nn.Chain{nn.Dense{Out: 128}, act}}, nn.Dense{Out: 2}}},
		"odd":           {300, 1, nn.Chain{nn.Dense{Out: 331}, act, nn.LayerNorm{}, nn.Dense{Out: 2}, nn.Scale{}, nn.Dense{Out: 2, Fixed: true}}},
		"correlated":    {64, 4 + 16 + 1, nn.Chain{nn.Correlated{Layers: nn.Chain{nn.Dense{Out: 256}, act, nn.Dense{Out: 256}, act, nn.Dense{Out: 2}}}}},
		"fixed, biases": {64, 4 + 1, nn.Chain{nn.Dense{Out: 256, Fixed: true, NoBias: true}, act, nn.Dense{Out: 2}}},
	} {
		for _, clip := range []float64{0, 0.5} {
			a, b := stepTrainer(t, c.in, 7, 2, clip, c.layers), stepTrainer(t, c.in, 7, 1, clip, c.layers)
			owned, tiles := 0, 0
			for _, s := range a.tasks {
				owned += s.ranges.to - s.ranges.from
				tiles += s.tiles.to - s.tiles.from
			}
			if owned < c.owned || owned+len(a.unowned) != len(a.ranges) || tiles != a.unit.PrepareTiles() {
				t.Fatalf("%s: %d of %d ranges are updated with the %d tiles that read them, %d before", name, owned, len(a.ranges), tiles, len(a.unowned))
			}
			b.tasks, b.unowned = nil, nil
			for r := range b.ranges {
				b.unowned = append(b.unowned, r)
			}
			for step := 1; step <= 2; step++ {
				var change [2]Change
				for i, tr := range []*trainer{a, b} {
					if s := tr.Gradient(step); !s.Finite {
						t.Fatalf("%s: step %d is not finite", name, step)
					}
					change[i] = tr.Update(Update{Step: step, Rate: 1e-2, KL: 0.1})
				}
				b.prepare()
				if change[0] != change[1] || !slices.Equal(a.params.Theta, b.params.Theta) {
					t.Fatalf("%s: step %d differs: %+v, %+v", name, step, change[0], change[1])
				}
			}
		}
	}
}
