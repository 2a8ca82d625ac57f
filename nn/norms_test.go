package nn_test

import (
	"fmt"
	"math"
	"testing"

	"utvi/fn"
	"utvi/internal/codec"
	"utvi/nn"
	"utvi/nn/nntest"
	"utvi/rng"
)

func TestLayerNorm(t *testing.T) {
	nntest.Layer(t, nn.LayerNorm{}, nn.Vec(7), nntest.Options{Mean: 0.5})
	nntest.Layer(t, nn.LayerNorm{}, nn.Vec(2), nntest.Options{})
	nntest.Layer(t, nn.LayerNorm{FixedMean: true}, nn.Vec(7), nntest.Options{Mean: 0.5})
	nntest.Layer(t, nn.Chain{nn.Dense{Out: 6}, nn.LayerNorm{Eps: 0.1}, nn.Apply{F: fn.Tanh()}, nn.Dense{Out: 2}}, nn.Vec(3), nntest.Options{})
	nntest.Layer(t, nn.LayerNorm{}, nn.Shape{H: 2, W: 2, C: 3}, nntest.Options{})
	nntest.Refuses(t, nn.LayerNorm{Eps: -1}, nn.Vec(2), "Eps is -1; it must be a number > 0, or 0 for 1e-5")
}

// TestLayerNormMoments: a random mean about halves the error of the variance, which
// falls with the number of units. Rows have means N(0, 1) and variances up to 1; the
// error is the root mean square over units, relative to that of the variances.
func TestLayerNormMoments(t *testing.T) {
	for _, c := range []struct {
		n, rows    int
		off, fixed float64
	}{{4, 4, 0.36, 0.6}, {64, 1, 0.032, 0.038}} {
		var now, before float64
		for r := range c.rows {
			key := rng.New(uint64(r))
			mean, variance := make([]float64, c.n), make([]float64, c.n)
			for i := range mean {
				mean[i], variance[i] = rng.Normal(key, uint64(i)), rng.Uniform(key, uint64(1000+i))
			}
			m, v := sampleRow(mean, variance, c.n, func(x []float64, _ float64, y []float64) { normalise(x, y) })
			off := func(l nn.LayerNorm) float64 {
				out := pushRow(l, mean, variance)
				var square, size float64
				for i := range m {
					square += (out.Var[i] - v[i]) * (out.Var[i] - v[i])
					size += v[i] * v[i]
					if math.Abs(out.Mean[i]-m[i]) > 0.6*math.Sqrt(v[i]) {
						t.Errorf("%d units: mean %v, drawn %v ± %v", c.n, out.Mean[i], m[i], math.Sqrt(v[i]))
					}
				}
				return math.Sqrt(square/size) / float64(c.rows)
			}
			now += off(nn.LayerNorm{Eps: 1e-12})
			before += off(nn.LayerNorm{Eps: 1e-12, FixedMean: true})
		}
		t.Logf("%d units: the variance is off by %.3f, with a fixed mean by %.3f", c.n, now, before)
		if now > c.off || before < c.fixed {
			t.Errorf("%d units: the variance is off by %.3f, with a fixed mean by %.3f", c.n, now, before)
		}
	}
}

func normalise(x, y []float64) {
	n := float64(len(x))
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
}

// Layers that were saved before the mean was random keep their moments.
func TestLayerNormOfOldFiles(t *testing.T) {
	for text, want := range map[string]nn.LayerNorm{
		`{"kind":"layernorm","eps":0.25}`:                    {Eps: 0.25, FixedMean: true},
		`{"kind":"layernorm","eps":0.25,"random_mean":true}`: {Eps: 0.25},
	} {
		l, err := codec.Unmarshal([]byte(text), codec.Library{})
		if err != nil || l != want {
			t.Errorf("%s is %+v (%v)", text, l, err)
		}
		if b, err := codec.Marshal(want); err != nil || string(b) != text {
			t.Errorf("%+v is written as %s (%v)", want, b, err)
		}
	}
}

func TestBatchNorm(t *testing.T) {
	l := nn.BatchNorm{Mean: []float64{1, -2, 0.5}, Var: []float64{4, 0.3, 1}, Gain: []float64{2, 1, -0.7}, Offset: []float64{0, 3, 1}}
	nntest.Layer(t, l, nn.Vec(3), nntest.Options{})
	nntest.Layer(t, l, nn.Shape{H: 2, W: 2, C: 3}, nntest.Options{})
	nntest.Layer(t, nn.BatchNorm{Mean: []float64{1}, Var: []float64{4}, Eps: 0.5}, nn.Vec(1), nntest.Options{})
	nntest.Refuses(t, nn.BatchNorm{Mean: []float64{1}, Var: []float64{1}}, nn.Vec(2), "Mean has 1 numbers; the input has 2 channels")
	nntest.Refuses(t, nn.BatchNorm{Mean: []float64{1}, Var: []float64{1}, Gain: []float64{}}, nn.Vec(1), "Gain has 0 numbers; the input has 1 channels")
	nntest.Refuses(t, nn.BatchNorm{Mean: []float64{1}, Var: []float64{-1}}, nn.Vec(1), "Var[0] is -1; numbers must be finite, and variances ≥ 0")
}

func ExampleBatchNorm() {
	l := nn.BatchNorm{Mean: []float64{3}, Var: []float64{4}, Gain: []float64{10}, Offset: []float64{1}, Eps: 1e-12}
	out := pushRow(l, []float64{5}, []float64{2})
	fmt.Printf("%.0f %.0f\n", out.Mean[0], out.Var[0])
	// Output: 11 50
}

func ExampleLayerNorm() {
	out := pushRow(nn.LayerNorm{}, []float64{1, 2, 3}, []float64{1, 1, 1})
	fmt.Printf("%.3f %.3f\n", out.Mean[2], out.Var[2]) // τ² = 2/3 + 2/3, Var(x−x̄) = 2/3
	// Output: 0.866 0.500
}
