package gpu_test

import (
	"strings"
	"testing"

	"utvi/engine"
	"utvi/fn"
	"utvi/internal/compute"
	"utvi/likelihood"
	"utvi/moment"
	"utvi/nn"
	"utvi/optim"
	"utvi/rng"
)

// Drawn networks have the weights that the CPU draws, and the same gradients to rounding.
func TestDraws(t *testing.T) {
	leaky := nn.Apply{F: fn.LeakyReLU(0.01), Rule: moment.UT(2)}
	learned := nn.Apply{F: fn.MustFormula("a*tanh(b*x)", fn.Learned("a", 1.2), fn.LearnedPerUnit("b", 0.7))}
	for _, c := range []testCase{
		{"small", 3, nn.Chain{nn.Dense{Out: 90}, leaky, nn.Dense{Out: 90}, leaky, nn.Dense{Out: 1}, nn.Noise{}}, likelihood.Normal{}},
		{"wide", 36, nn.Chain{nn.Dense{Out: 256}, leaky, nn.Dense{Out: 132}, nn.Apply{F: fn.Tanh()}, nn.Dense{Out: 4}}, likelihood.Heteroscedastic{}},
		{"numbers among them", 5, nn.Chain{nn.Dense{Out: 41, Fixed: true}, learned, nn.Dense{Out: 3, NoBias: true}, nn.Scale{Start: 1.5}, nn.Noise{}}, likelihood.Normal{}},
		{"images", 64, nn.Chain{nn.Conv2D{Out: 8, Kernel: [2]int{3, 3}}, leaky, nn.Dense{Out: 32}, leaky, nn.Dense{Out: 3}, nn.Noise{}}, likelihood.Normal{}},
		{"classes", 3, nn.Chain{nn.Dense{Out: 9}, leaky, nn.Dense{Out: 3}, nn.Joint{Map: fn.Softmax()}}, likelihood.Categorical{}},
	} {
		t.Run(c.name, func(t *testing.T) { compareSteps(t, c, 3) })
	}
}

func TestDrawsRefuse(t *testing.T) {
	n := network(t, 3, nn.Chain{nn.Dense{Out: 9}, nn.Dense{Out: 1}})
	c := testCase{"", 3, nn.Chain{nn.Dense{Out: 1}}, likelihood.Normal{}}
	for draws, want := range map[int]string{1: "end the network with nn.Noise", 1001: "a step draws 1001 networks; at most 1000 run"} {
		_, err := card(t).Train(n, engine.Job{Data: source(t, c, false, true), Likelihood: c.likelihood, Optimizer: optim.Paper(), Batch: 10, Seed: rng.New(1), Draws: draws, Pool: compute.NewPool(1)})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d draws: %v", draws, err)
		}
	}
}
