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

// Every tiling gives the same bits, in tiles that are cut at the edges too.
func TestTilings(t *testing.T) {
	e := card(t)
	act := nn.Apply{F: fn.LeakyReLU(0.01), Rule: moment.UT(2)}
	c := testCase{in: 68, layers: nn.Chain{nn.Dense{Out: 136}, act, nn.Dense{Out: 64}, act, nn.Dense{Out: 1}}, likelihood: likelihood.Normal{}}
	start := network(t, c.in, c.layers)
	var want []float32
	for _, name := range gpu.Tiles() {
		if err := e.Tile(name); err != nil {
			t.Fatal(err)
		}
		n := clone(start)
		tr, err := e.Train(n, engine.Job{Data: source(t, c, true, true), Likelihood: c.likelihood, Optimizer: optim.Paper(), Batch: 140, Seed: rng.New(9), Pool: compute.NewPool(1)})
		if err != nil {
			t.Fatal(err)
		}
		if s := tr.Gradient(1); s.Err != nil || !s.Finite {
			t.Fatalf("%s: %+v", name, s)
		}
		if s := tr.Update(engine.Update{Step: 1, Rate: 1e-2, KL: 1e-3}); s.Err != nil || !s.Finite {
			t.Fatalf("%s: %+v", name, s)
		}
		if err := tr.Sync(); err != nil {
			t.Fatal(err)
		}
		got := tr.State().First.Theta
		if want == nil {
			want = slices.Clone(got)
		}
		if !slices.Equal(got, want) {
			t.Errorf("tiles %s give other bits than tiles %s", name, gpu.Tiles()[0])
		}
	}
	if err := e.Tile("huge"); err == nil {
		t.Error("a tiling that does not exist was taken")
	}
}
