package nn_test

import (
	"fmt"
	"math"
	"testing"

	"utvi/fn"
	"utvi/gauss"
	"utvi/internal/codec"
	"utvi/nn"
	"utvi/nn/nntest"
	"utvi/rng"
	"utvi/vi"
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

// A BatchNorm that learns passes the suite of layers, and its statistics know where those of a
// batch lie, whatever the blocks.
func TestBatchNormLearns(t *testing.T) {
	nntest.Layer(t, nn.BatchNorm{}, nn.Vec(3), nntest.Options{})
	nntest.Layer(t, nn.BatchNorm{Eps: 0.5}, nn.Shape{H: 2, W: 2, C: 3}, nntest.Options{Mean: 1})
	nntest.Layer(t, nn.Chain{nn.Dense{Out: 6}, nn.BatchNorm{}, nn.Apply{F: fn.Tanh()}, nn.Dense{Out: 2}}, nn.Vec(3), nntest.Options{})
	nntest.Refuses(t, nn.BatchNorm{Gain: []float64{1}}, nn.Vec(1), "Mean has 0 numbers; the input has 1 channels")
	nntest.Refuses(t, nn.BatchNorm{Eps: -1}, nn.Vec(1), "Eps is -1; it must be a number > 0, or 0 for 1e-5")
}

func TestBatchNormStatistics(t *testing.T) {
	b := &nn.Binder[float64]{Params: &vi.Params[float64]{}, In: nn.Shape{H: 1, W: 2, C: 1}, Form: nn.Independent, Name: "norm", Train: true}
	u, err := nn.Bind(nn.BatchNorm{}, b)
	if err != nil {
		t.Fatal(err)
	}
	b.Params.Alloc()
	b.Params.AllocGrads()
	b.Params.Start(rng.New(1), vi.Init{})
	mean, variance := b.Params.Tensors[2], b.Params.Tensors[3]
	mean.Mean[0] = 5
	r := u.NewRunner(2, true)
	r.Prepare(0)
	x := gauss.Batch[float64]{Rows: 2, Width: 2, Mean: []float64{1, 2, 3, 6}, Var: []float64{0.5, 1.5, 0, 2}} // mean 3, variance 3.5 + 1
	p := &nn.Pass[float64]{In: x, Out: gauss.New[float64](2, 2), DOut: gauss.New[float64](2, 2), Tape: make([]float64, 2*u.TapeWidth())}
	r.Forward(p)
	r.Backward(p)
	r.Gradient(0, []nn.Block[float64]{{Rows: 1, Tape: p.Tape[:4]}, {Rows: 1, Tape: p.Tape[4:]}})
	if got := mean.Mean[0] - mean.GMean[0]; math.Abs(got-3) > 1e-12 {
		t.Errorf("the batch's mean is %v, want 3", got)
	}
	if got := variance.Mean[0] - variance.GMean[0]; math.Abs(got-4.5) > 1e-12 {
		t.Errorf("the batch's variance is %v, want 4.5", got)
	}
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
