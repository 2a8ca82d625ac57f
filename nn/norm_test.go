package nn_test

import (
	"fmt"
	"math"
	"testing"

	"utvi/fn"
	"utvi/nn"
	"utvi/nn/nntest"
)

func TestLayerNorm(t *testing.T) {
	nntest.Layer(t, nn.LayerNorm{}, nn.Vec(7), nntest.Options{Mean: 0.5})
	nntest.Layer(t, nn.Chain{nn.Dense{Out: 6}, nn.LayerNorm{Eps: 0.1}, nn.Apply{F: fn.Tanh()}, nn.Dense{Out: 2}}, nn.Vec(3), nntest.Options{})
	nntest.Layer(t, nn.LayerNorm{}, nn.Shape{H: 2, W: 2, C: 3}, nntest.Options{})
	nntest.Refuses(t, nn.LayerNorm{Eps: -1}, nn.Vec(2), "its Eps is -1; it must be a number > 0, or 0 for 1e-5")
}

// TestLayerNormMoments: over many units the statistics are nearly the numbers
// they are taken for, and sampling agrees.
func TestLayerNormMoments(t *testing.T) {
	const n = 30
	mean, variance := make([]float64, n), make([]float64, n)
	for i := range mean {
		mean[i], variance[i] = math.Sin(float64(3*i)), 0.1+0.03*float64(i)
	}
	m, v := sampleRow(mean, variance, n, func(x []float64, _ float64, y []float64) {
		var mu, t float64
		for _, x := range x {
			mu += x / n
		}
		for _, x := range x {
			t += (x - mu) * (x - mu) / n
		}
		for i, x := range x {
			y[i] = (x - mu) / math.Sqrt(t)
		}
	})
	out := pushRow(nn.LayerNorm{Eps: 1e-12}, mean, variance)
	for i := range m {
		agrees(t, fmt.Sprint("unit ", i), out.Mean[i], out.Var[i], m[i], v[i], 0.12)
	}
}

func TestBatchNorm(t *testing.T) {
	l := nn.BatchNorm{Mean: []float64{1, -2, 0.5}, Var: []float64{4, 0.3, 1}, Gain: []float64{2, 1, -0.7}, Offset: []float64{0, 3, 1}}
	nntest.Layer(t, l, nn.Vec(3), nntest.Options{})
	nntest.Layer(t, l, nn.Shape{H: 2, W: 2, C: 3}, nntest.Options{})
	nntest.Layer(t, nn.BatchNorm{Mean: []float64{1}, Var: []float64{4}, Eps: 0.5}, nn.Vec(1), nntest.Options{})
	nntest.Refuses(t, nn.BatchNorm{Mean: []float64{1}, Var: []float64{1}}, nn.Vec(2), "its Mean has 1 numbers; the input has 2 channels")
	nntest.Refuses(t, nn.BatchNorm{Mean: []float64{1}, Var: []float64{1}, Gain: []float64{}}, nn.Vec(1), "its Gain has 0 numbers; the input has 1 channels")
	nntest.Refuses(t, nn.BatchNorm{Mean: []float64{1}, Var: []float64{-1}}, nn.Vec(1), "its Var[0] is -1; it must be finite, and a variance not negative")
}

func ExampleBatchNorm() {
	l := nn.BatchNorm{Mean: []float64{3}, Var: []float64{4}, Gain: []float64{10}, Offset: []float64{1}, Eps: 1e-12}
	out := pushRow(l, []float64{5}, []float64{2})
	fmt.Printf("%.0f %.0f\n", out.Mean[0], out.Var[0])
	// Output: 11 50
}

func ExampleLayerNorm() {
	out := pushRow(nn.LayerNorm{}, []float64{1, 2, 3}, []float64{1, 1, 1})
	fmt.Printf("%.3f %.3f\n", out.Mean[2], out.Var[2]) // τ² = 2/3 + 1
	// Output: 0.775 0.600
}
