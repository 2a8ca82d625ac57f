package nn_test

import (
	"math"
	"testing"

	"utvi/fn"
	"utvi/moment"
	"utvi/nn"
	"utvi/nn/nntest"
)

func TestApply(t *testing.T) {
	sensor := &moment.Func{Name: "sensor", F: func(x float64) float64 { return x / (1 + x*x) }}
	for name, l := range map[string]nn.Apply{
		"ut":         {F: fn.Tanh()},
		"learned ut": {F: fn.Sigmoid(), Rule: moment.LearnedUT(1.5)},
		"gh":         {F: fn.GELU(), Rule: moment.GaussHermite(5)},
		"genut":      {F: fn.SiLU(), Rule: moment.GenUT(0.3, 3.5)},
		"mc":         {F: fn.Softplus(), Rule: moment.MonteCarlo(6)},
		"linear":     {F: fn.Sin(), Rule: moment.Linear()},
		"exact":      {F: fn.ReLU(), Rule: moment.Exact()},
		"user":       {F: sensor, Rule: moment.UT(2)},
	} {
		t.Run(name, func(t *testing.T) { nntest.Layer(t, l, nn.Vec(37), nntest.Options{}) })
	}
	t.Run("images", func(t *testing.T) {
		nntest.Layer(t, nn.Apply{F: fn.Cos()}, nn.Shape{H: 3, W: 2, C: 5}, nntest.Options{})
	})
}

func TestApplyRefuses(t *testing.T) {
	nntest.Refuses(t, nn.Apply{}, nn.Vec(1), "no function F; set nn.Apply.F")
	nntest.Refuses(t, nn.Apply{F: fn.Tanh(), Rule: moment.Exact()}, nn.Vec(1), "exact: no closed form is known for tanh; use ut or gh")
	nntest.Refuses(t, nn.Apply{F: fn.Tanh(), Rule: moment.UT(math.NaN())}, nn.Vec(1), "ut: κ is NaN; it must be a number ≥ 0 (the paper uses 2)")
}

func TestScale(t *testing.T) {
	nntest.Layer(t, nn.Scale{Start: 1.7}, nn.Vec(5), nntest.Options{Draws: 20_000})
	nntest.Refuses(t, nn.Scale{Start: -1}, nn.Vec(1), "the scale starts at -1; it must be a number > 0")
}

func TestMultiply(t *testing.T) {
	nntest.Layer(t, nn.Multiply{By: []float64{2, 2, -0.3, 1}}, nn.Vec(4), nntest.Options{Draws: 20_000})
	nntest.Refuses(t, nn.Multiply{By: []float64{2}}, nn.Vec(3), "1 factors for 3 units; each unit needs one")
	nntest.Refuses(t, nn.Multiply{By: []float64{1, 0}}, nn.Vec(2), "factor 1 is 0; it must be a finite number other than 0")
	nntest.Refuses(t, nn.Multiply{By: []float64{math.NaN()}}, nn.Vec(1), "factor 0 is NaN; it must be a finite number other than 0")
}

func TestChain(t *testing.T) {
	l := nn.Chain{
		nn.Dense{Out: 23}, nn.Apply{F: fn.Tanh()},
		nn.Dense{Out: 17}, nn.Dense{Out: 9}, nn.Apply{F: fn.Softplus(), Rule: moment.LearnedUT(2)},
		nn.Dense{Out: 3}, nn.Scale{}, nn.Apply{F: fn.NormalInverse()},
	}
	nntest.Layer(t, l, nn.Vec(4), nntest.Options{})
	nntest.Refuses(t, nn.Chain{}, nn.Vec(1), "no layers; a chain needs at least 1")
	nntest.Refuses(t, nn.Chain{nn.Dense{Out: 3}, nn.Dense{}}, nn.Vec(1), "layer layer.1.dense (input 3): 0 outputs; a dense layer needs at least 1")
}
