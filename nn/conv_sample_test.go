package nn_test

import (
	"fmt"
	"math"
	"testing"

	"utvi/gauss"
	"utvi/nn"
	"utvi/rng"
	"utvi/vi"
)

// bound binds a layer in float64 with room for one row.
func bound(t *testing.T, l nn.Layer, in nn.Shape, fixed bool) (nn.Unit[float64], nn.Runner[float64], *vi.Params[float64]) {
	t.Helper()
	b := &nn.Binder[float64]{Params: &vi.Params[float64]{}, In: in, Name: "layer", Fixed: fixed}
	if !fixed {
		b.Form = nn.Independent
	}
	u, err := nn.Bind(l, b)
	if err != nil {
		t.Fatal(err)
	}
	b.Params.Alloc()
	return u, u.NewRunner(1, false), b.Params
}

func prepare(u nn.Unit[float64], r nn.Runner[float64]) {
	for i := range u.PrepareTiles() {
		r.Prepare(i)
	}
}

// The moments of a layer are those of its outputs with numbers drawn for every
// input and weight: within 5 standard errors of 20,000 draws, plus bias in
// standard deviations of the mean and relative to the variance.
func sampled(t *testing.T, l nn.Layer, in nn.Shape, biasMean, biasVar float64) {
	const draws = 20_000
	u, r, params := bound(t, l, in, false)
	key := rng.New(5)
	params.Start(key, vi.Init{RhoMin: -2, RhoMax: 0})
	prepare(u, r)
	x := gauss.New[float64](1, in.Size())
	for i := range x.Mean {
		x.Mean[i], x.Var[i] = rng.Normal(key, uint64(2*i)), 0.1+rng.Uniform(key, uint64(2*i+1))
	}
	out := gauss.New[float64](1, u.Out().Size())
	r.Forward(&nn.Pass[float64]{In: x, Out: out})

	sampler := vi.NewSampler(params)
	du, dr, drawn := bound(t, l, in, true)
	n := len(out.Mean)
	num := gauss.Fixed(in.Size(), make([]float64, in.Size()))
	one := gauss.Fixed(n, make([]float64, n))
	powers := make([][4]float64, n) // Σ dᵏ, d the distance from the predicted mean
	for k := range draws {
		at := key.Sub(uint64(k), 9)
		for i := range num.Mean {
			num.Mean[i] = x.Mean[i] + math.Sqrt(x.Var[i])*rng.Normal(at, uint64(i))
		}
		sampler.Draw(at.Sub(1, 1), drawn)
		prepare(du, dr)
		dr.Forward(&nn.Pass[float64]{In: num, Out: one})
		for i, y := range one.Mean {
			d := y - out.Mean[i]
			p := d / draws
			for j := range powers[i] {
				powers[i][j] += p
				p *= d
			}
		}
	}
	for i, p := range powers {
		m := p[0]
		v := p[1] - m*m
		fourth := p[3] - 4*m*p[2] + 6*m*m*p[1] - 3*m*m*m*m
		if limit := (5/math.Sqrt(draws) + biasMean) * math.Sqrt(v); !(math.Abs(m) <= limit) {
			t.Errorf("output %d: the mean %v is off by %v, more than %v", i, out.Mean[i], m, limit)
		}
		if limit := 5*math.Sqrt((fourth-v*v)/draws) + biasVar*v; !(math.Abs(v-out.Var[i]) <= limit) {
			t.Errorf("output %d: the variance is %v, drawn %v ± %v", i, out.Var[i], v, limit)
		}
	}
}

func TestConvSampled(t *testing.T) {
	sampled(t, nn.Conv2D{Out: 3, Kernel: [2]int{3, 2}, Padding: nn.Same}, nn.Shape{H: 4, W: 3, C: 2}, 0, 0)
	sampled(t, nn.Conv2D{Out: 2, Kernel: [2]int{2, 2}, Stride: 2}, nn.Shape{H: 5, W: 4, C: 1}, 0, 0)
	sampled(t, nn.Conv1D{Out: 2, Kernel: 3}, nn.Shape{H: 1, W: 6, C: 2}, 0, 0)
}

func TestPoolSampled(t *testing.T) {
	sampled(t, nn.AvgPool2D{Size: [2]int{2, 3}}, nn.Shape{H: 4, W: 6, C: 2}, 0, 0)
	sampled(t, nn.MaxPool2D{Size: [2]int{1, 2}}, nn.Shape{H: 4, W: 6, C: 2}, 0, 0) // two cells are exact
	sampled(t, nn.MaxPool2D{Size: [2]int{2, 2}}, nn.Shape{H: 4, W: 6, C: 2}, 0.03, 0.1)
}

// Zeros surround the image, one more after it than before where their number is
// odd; the kernel is not mirrored.
func TestConvSame(t *testing.T) {
	u, r, params := bound(t, nn.Conv1D{Out: 1, Kernel: 4, Padding: nn.Same, Fixed: true, NoBias: true}, nn.Shape{H: 1, W: 3, C: 1}, false)
	copy(params.Tensors[0].Mean, []float64{1, 10, 100, 1000})
	prepare(u, r)
	out := gauss.Fixed(3, make([]float64, 3))
	r.Forward(&nn.Pass[float64]{In: gauss.Fixed(3, []float64{1, 2, 3}), Out: out})
	if got, want := fmt.Sprint(out.Mean), "[3210 321 32]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
