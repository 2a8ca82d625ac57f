package bayes

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"utvi/internal/onnx"
	"utvi/model"
	"utvi/nn"
)

// normalised is a network of one hidden layer with a normalisation, as weight decay leaves it:
// its weights are small, its biases nothing, and the normalisation makes up for both. It is
// 2x + 1 between −3 and 3.
func normalised(t *testing.T) *model.Model {
	const units = 32
	r := rand.New(rand.NewPCG(3, 0))
	w := make([]float32, units)
	zero := make([]float32, units)
	gain := make([]float32, units)
	offset := make([]float32, units)
	mean := make([]float32, units)
	variance := make([]float32, units)
	v := make([]float32, units)
	for i := range units {
		sign := float32(1 - 2*(i%2))
		w[i] = 1e-3 * sign
		zero[i] = float32(1e-9 * r.NormFloat64())
		variance[i] = 1e-6
		gain[i], offset[i] = 1, 4
		v[i] = 2 * sign / units
	}
	return graph(t, func(b *onnx.Builder, x string) string {
		y := b.Op("Gemm", []string{x, b.Floats("w", w, 1, units), b.Floats("b", zero, units)})
		y = b.Op("BatchNormalization", []string{y, b.Floats("gain", gain, units), b.Floats("offset", offset, units),
			b.Floats("mean", mean, units), b.Floats("variance", variance, units)}, onnx.Number("epsilon", 1e-12))
		y = b.Op("Relu", []string{y})
		return b.Op("Gemm", []string{y, b.Floats("v", v, units, 1), b.Floats("c", []float32{1}, 1)})
	})
}

// Biases that weight decay drove to zero do not ruin a network.
func TestNormalised(t *testing.T) {
	test := rows(1000, 2, false)
	r, err := Train(t.Context(), normalised(t), rows(200, 1, false), &test, Config{Epochs: 20})
	if err != nil {
		t.Fatal(err)
	}
	b, a := r.Before[0], r.After[0]
	if a.RMSE.Value > 1.1*b.RMSE.Value || a.LL.Value < b.LL.Value-0.1 || r.Gain.Value < -0.1 {
		t.Errorf("the error went from %v to %v, the log-likelihood from %v to %v (gain %v)", b.RMSE, a.RMSE, b.LL, a.LL, r.Gain)
	}
	if nn.Any(r.Net.Config.Layers, func(l nn.Layer) bool { _, ok := l.(nn.BatchNorm); return ok }) {
		t.Error("the normalisation is left beside weights that could take it in")
	}
}

// Rows that were held out notice a network that was ruined, of numbers and of classes.
func TestWorse(t *testing.T) {
	numbers, classes := rows(1000, 2, false), rows(1000, 2, true)
	good := Config{Epochs: 10}
	bad := Config{Epochs: 1, Rate: 3, Scale: 30}
	for _, c := range []struct {
		c     Config
		worse bool
	}{{good, false}, {bad, true}} {
		r, err := Train(t.Context(), lines(t, []float32{2}, []float32{1}, ""), rows(300, 1, false), &numbers, c.c)
		if err != nil {
			t.Fatal(err)
		}
		if r.Worse() != c.worse {
			t.Errorf("numbers: the log-likelihood changed by %v, worse: %v", r.Gain, r.Worse())
		}
		r, err = Train(t.Context(), lines(t, []float32{0, 1}, []float32{0, 0}, ""), rows(300, 1, true), &classes, c.c)
		if err != nil {
			t.Fatal(err)
		}
		if r.Worse() != c.worse {
			t.Errorf("classes: the log-likelihood changed by %v, worse: %v", r.Gain, r.Worse())
		}
	}
}

// The trained network is compared at its best: with the temperature that suits the rows.
func TestTemperature(t *testing.T) {
	k := task{softmax: true}
	z := k.logits([]float32{3, 0, 3, 0, 3, 0, 3, 0})
	got := bestTemperature(z, 2, []float32{0, 0, 0, 1}) // right three times of four
	if want := 3 / math.Log(3); math.Abs(got-want) > 1e-2 {
		t.Errorf("the temperature is %v, want %v", got, want)
	}
	if z := (task{}).logits([]float32{0.25, 0}); z[0] != math.Log(0.25) || math.IsInf(z[1], 0) {
		t.Errorf("the logits of probabilities are %v", z)
	}
}

// If the last layer alone gets error bars, the others keep their numbers.
func TestLast(t *testing.T) {
	net := normalised(t)
	whole, err := net.Around(model.Around{})
	if err != nil {
		t.Fatal(err)
	}
	test := rows(1000, 2, false)
	r, err := Train(t.Context(), net, rows(200, 1, false), &test, Config{Last: 1})
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range r.Net.Params.Tensors {
		last := i >= len(r.Net.Params.Tensors)-3 // weights, bias and noise
		if strings.HasSuffix(x.Name, "noise") {
			continue
		}
		if x.Random != last || slices.Equal(x.Mean, whole.Params.Tensors[i].Mean) == last {
			t.Errorf("%s: random %v, weights %v", x.Name, x.Random, x.Mean)
		}
	}
	if math.Abs(r.After[0].Intervals[1].Coverage-0.9) > 0.05 {
		t.Errorf("the log-likelihood changed by %v; 90 %% intervals cover %v", r.Gain, r.After[0].Intervals[1].Coverage)
	}
	if facts := r.Net.Facts; facts.Rows != 200 {
		t.Errorf("the network does not know how it was trained: %+v", facts)
	}
}
