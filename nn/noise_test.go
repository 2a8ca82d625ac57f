package nn_test

import (
	"fmt"
	"math"
	"testing"

	"utvi/fn"
	"utvi/nn"
	"utvi/nn/nntest"
)

func TestNoise(t *testing.T) {
	nntest.Layer(t, nn.Noise{Start: 0.7}, nn.Vec(5), nntest.Options{Draws: 20_000})
	nntest.Layer(t, nn.Noise{Off: true}, nn.Vec(5), nntest.Options{})
	nntest.Layer(t, nn.Chain{nn.Dense{Out: 4, Fixed: true}, nn.Noise{}, nn.Apply{F: fn.Tanh()}}, nn.Vec(3), nntest.Options{})
	nntest.Refuses(t, nn.Noise{Start: -1}, nn.Vec(1), "the standard deviation starts at -1; it must be a number > 0")
	nntest.Refuses(t, nn.Noise{Start: math.Inf(1)}, nn.Vec(1), "the standard deviation starts at +Inf; it must be a number > 0")
}

// TestWithoutNoise finds every noise, and changes nothing else.
func TestWithoutNoise(t *testing.T) {
	net := nn.Chain{
		nn.Apply{F: fn.Tanh()}, nn.Noise{Start: 0.3},
		nn.Residual{Branch: nn.Chain{nn.Noise{Start: 0.2}, nn.Noise{}}},
	}
	loud, quiet := pushRow(net, []float64{1}, nil), pushRow(nn.WithoutNoise(net), []float64{1}, nil)
	if loud.Mean[0] != quiet.Mean[0] || loud.Var == nil || quiet.Var != nil {
		t.Errorf("with noise %v, without %v", loud, quiet)
	}
	if net[1].(nn.Noise).Off {
		t.Error("the network itself was changed")
	}
}

func TestDropout(t *testing.T) {
	nntest.Layer(t, nn.Dropout{P: 0.3}, nn.Vec(5), nntest.Options{Draws: 20_000})
	nntest.Layer(t, nn.Dropout{}, nn.Vec(5), nntest.Options{})
	nntest.Layer(t, nn.Chain{nn.Dropout{P: 0.5}, nn.Dense{Out: 3}}, nn.Vec(4), nntest.Options{})
	nntest.Refuses(t, nn.Dropout{P: 1}, nn.Vec(1), "the probability P is 1; it must be at least 0 and less than 1")
	nntest.Refuses(t, nn.Dropout{P: math.NaN()}, nn.Vec(1), "the probability P is NaN; it must be at least 0 and less than 1")

	mean, variance := []float64{1.5}, []float64{0.4}
	m, v := sampleRow(mean, variance, 1, func(x []float64, z float64, y []float64) {
		y[0] = 0
		if z < 0.5244005127080407 { // Φ⁻¹(0.7)
			y[0] = x[0] / 0.7
		}
	})
	out := pushRow(nn.Dropout{P: 0.3}, mean, variance)
	agrees(t, "dropout", out.Mean[0], out.Var[0], m[0], v[0], 0)
}

func ExampleNoise() {
	out := pushRow(nn.Noise{Start: 0.5}, []float64{1}, []float64{2})
	fmt.Printf("%.2f %.2f\n", out.Mean[0], out.Var[0])
	// Output: 1.00 2.25
}

func ExampleWithoutNoise() {
	net := nn.Chain{nn.Dropout{P: 0.5}, nn.Noise{Start: 0.5}}
	all, rest := pushRow(net, []float64{1}, nil), pushRow(nn.WithoutNoise(net), []float64{1}, nil)
	fmt.Printf("%.2f = %.2f + noise\n", all.Var[0], rest.Var[0])
	// Output: 1.25 = 1.00 + noise
}

func ExampleDropout() {
	out := pushRow(nn.Dropout{P: 0.2}, []float64{2}, []float64{1})
	fmt.Printf("%.2f %.2f\n", out.Mean[0], out.Var[0])
	// Output: 2.00 2.25
}
