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

// The gradients of wide layers do not depend, but for rounding, on how their tiles are cut
// and shared among workers; with the same workers they have the same bits.
func TestWorkers(t *testing.T) {
	e := card(t)
	act := nn.Apply{F: fn.LeakyReLU(0.01), Rule: moment.UT(2)}
	c := testCase{in: 70, layers: nn.Chain{nn.Dense{Out: 264}, act, nn.Dense{Out: 131}, act, nn.Dense{Out: 258, NoBias: true}, act, nn.Dense{Out: 6}}, likelihood: likelihood.Heteroscedastic{}}
	start := network(t, c.in, c.layers)
	train := func(workers int) []float32 {
		defer gpu.SetWorkers(workers)()
		tr, err := e.Train(clone(start), engine.Job{Data: source(t, c, false, true), Likelihood: c.likelihood, Optimizer: optim.Paper(), Batch: 130, Seed: rng.New(9), Pool: compute.NewPool(1)})
		if err != nil {
			t.Fatal(err)
		}
		if s := tr.Gradient(1); s.Err != nil || !s.Finite {
			t.Fatalf("%+v", s)
		}
		if s := tr.Update(engine.Update{Step: 1, Rate: 1e-2, KL: 1e-3}); s.Err != nil || !s.Finite {
			t.Fatalf("%+v", s)
		}
		if err := tr.Sync(); err != nil {
			t.Fatal(err)
		}
		return slices.Clone(tr.State().First.Theta)
	}
	one, many := train(1), train(40)
	if slices.Equal(many, one) {
		t.Error("40 workers give the bits of one: no tile is cut")
	}
	if d := off(many, one); d > 2e-6 {
		t.Errorf("40 workers: the gradients are off by %.1e from those of one", d)
	}
	if !slices.Equal(many, train(40)) {
		t.Error("the bits differ when the step is repeated")
	}
}
