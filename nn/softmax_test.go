package nn_test

import (
	"math"
	"testing"

	"utvi/gauss"
	"utvi/nn"
	"utvi/rng"
	"utvi/vi"
)

// softmaxOf are the moments of a causal softmax over 40 tokens, with the gradients that it sends back.
func softmaxOf[T gauss.Float](t *testing.T, size, spread float64) (all [4][]float64) {
	t.Helper()
	in := nn.Shape{H: 1, W: 40, C: 40}
	u, err := nn.Bind(nn.Softmax{Causal: true}, &nn.Binder[T]{Params: &vi.Params[T]{}, In: in, Form: nn.Independent})
	if err != nil {
		t.Fatal(err)
	}
	batch := func() gauss.Batch[T] { return gauss.New[T](1, in.Size()) }
	p := &nn.Pass[T]{In: batch(), DIn: batch(), Out: batch(), DOut: batch()}
	draw := func(to []T, scale float64, seed uint64) {
		for i := range to {
			to[i] = T(float32(scale * rng.Normal(rng.New(seed), uint64(i))))
		}
	}
	draw(p.In.Mean, size, 1)
	draw(p.In.Var, 1, 2)
	for i, x := range p.In.Var {
		p.In.Var[i] = T(float32(spread)) * x * x
	}
	draw(p.DOut.Mean, 1, 3)
	draw(p.DOut.Var, 1, 4)
	r := u.NewRunner(1, true)
	r.Forward(p)
	r.Backward(p)
	for i, x := range [][]T{p.Out.Mean, p.Out.Var, p.DIn.Mean, p.DIn.Var} {
		for _, x := range x {
			all[i] = append(all[i], float64(x))
		}
	}
	return all
}

// In float32 every mean and variance of a long softmax has its digits, also where variances are
// minute, and gradients are right to 1e-5 of the largest one.
func TestSoftmaxDigits(t *testing.T) {
	for _, size := range []float64{0.1, 3} {
		for _, spread := range []float64{1e-8, 1e-3, 1} {
			got, want := softmaxOf[float32](t, size, spread), softmaxOf[float64](t, size, spread)
			for i, name := range []string{"mean", "variance", "gradient by the mean", "gradient by the variance"} {
				most, scale := 0.0, 0.0
				for _, w := range want[i] {
					scale = max(scale, math.Abs(w))
				}
				for j, w := range want[i] {
					by := scale
					if i < 2 {
						by = w
					}
					if w != 0 || got[i][j] != 0 {
						most = max(most, math.Abs(got[i][j]-w)/by)
					}
				}
				t.Logf("means %v, variances %v: %s is off by %.1e", size, spread, name, most)
				if !(most <= 3e-5) {
					t.Errorf("means of about %v, variances of %v: the %s is off by %.1e", size, spread, name, most)
				}
			}
		}
	}
}
