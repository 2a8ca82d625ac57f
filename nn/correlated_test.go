package nn_test

import (
	"testing"

	"utvi/fn"
	"utvi/moment"
	"utvi/nn"
	"utvi/nn/nntest"
)

func TestCorrelated(t *testing.T) {
	for name, act := range map[string]nn.Apply{
		"exact": {F: fn.LeakyReLU(0.1), Rule: moment.Exact()}, "gh5": {F: fn.Tanh(), Rule: moment.GaussHermite(5)},
		"gelu": {F: fn.GELU(), Rule: moment.Exact()}, "linear": {F: fn.Sin(), Rule: moment.Linear()},
	} {
		t.Run(name, func(t *testing.T) {
			for outputs := 1; outputs < 4; outputs += 2 {
				nntest.Layer(t, nn.Correlated{Layers: nn.Chain{nn.Dense{Out: 5}, act, nn.Dense{Out: 4}, act, nn.Dense{Out: outputs}}}, nn.Vec(3), nntest.Options{})
			}
		})
	}
}
