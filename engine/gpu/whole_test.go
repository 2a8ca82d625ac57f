package gpu_test

import (
	"slices"
	"testing"

	"utvi/engine"
	"utvi/engine/gpu"
	"utvi/fn"
	"utvi/internal/compute"
	"utvi/likelihood"
	"utvi/moment"
	"utvi/nn"
	"utvi/optim"
	"utvi/rng"
)

// Wide layers in one launch, and in two, have the same bits: with functions that the kernels
// know and others, two products and three, tiles that are cut at the edges, and more tiles
// than a card has multiprocessors.
func TestWhole(t *testing.T) {
	e := card(t)
	three, exact := nn.Apply{F: fn.LeakyReLU(0.01), Rule: moment.UT(2)}, nn.Apply{F: fn.LeakyReLU(0.01)}
	other := nn.Apply{F: fn.Tanh(), Rule: moment.UT(2)}
	c := testCase{in: 70, layers: nn.Chain{nn.Dense{Out: 264}, three, nn.Dense{Out: 66}, other, nn.Dense{Out: 257}, exact, nn.Dense{Out: 66}, nn.Dense{Out: 256}, three, nn.Dense{Out: 2}}, likelihood: likelihood.Normal{}}
	start := network(t, c.in, c.layers)
	train := func(when int) []float32 {
		defer gpu.TakeWhole(when)()
		tr, err := e.Train(clone(start), engine.Job{Data: source(t, c, true, true), Likelihood: c.likelihood, Optimizer: optim.Paper(), Batch: 70, Seed: rng.New(9), Pool: compute.NewPool(1)})
		if err != nil {
			t.Fatal(err)
		}
		for step := range 2 {
			if s := tr.Gradient(step + 1); s.Err != nil || !s.Finite {
				t.Fatalf("%+v", s)
			}
			if s := tr.Update(engine.Update{Step: step + 1, Rate: 1e-2, KL: 1e-3}); s.Err != nil || !s.Finite {
				t.Fatalf("%+v", s)
			}
		}
		if err := tr.Sync(); err != nil {
			t.Fatal(err)
		}
		return slices.Clone(tr.State().First.Theta)
	}
	if !slices.Equal(train(1), train(-1)) {
		t.Error("one launch gives other bits than two")
	}
}
