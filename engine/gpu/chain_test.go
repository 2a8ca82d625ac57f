package gpu_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"utvi/data"
	"utvi/engine"
	"utvi/engine/gpu"
	"utvi/fn"
	"utvi/gauss"
	"utvi/internal/compute"
	"utvi/likelihood"
	"utvi/moment"
	"utvi/nn"
	"utvi/optim"
	"utvi/rng"
)

// chains are networks that have kernels of their own: with few inputs and many, fixed and
// uncertain, several outputs, a noise, widths beside the sides of tiles, one broad layer
// and several.
func chains() []struct {
	name      string
	in, out   int
	uncertain bool
	layers    nn.Chain
} {
	act := func(r moment.Rule) nn.Apply { return nn.Apply{F: fn.LeakyReLU(0.02), Rule: r} }
	three, exact := act(moment.UT(2)), act(moment.Exact())
	return []struct {
		name      string
		in, out   int
		uncertain bool
		layers    nn.Chain
	}{
		{"three points", 1, 1, false, nn.Chain{nn.Dense{Out: 40}, three, nn.Dense{Out: 36}, three, nn.Dense{Out: 1}}},
		{"closed form", 3, 2, true, nn.Chain{nn.Dense{Out: 20}, exact, nn.Dense{Out: 68}, exact, nn.Dense{Out: 24}, exact, nn.Dense{Out: 2}, nn.Noise{}}},
		{"many inputs", 20, 3, false, nn.Chain{nn.Dense{Out: 33 * 4}, three, nn.Dense{Out: 3}, nn.Noise{}}},
		{"uncertain inputs", 24, 1, true, nn.Chain{nn.Dense{Out: 32}, three, nn.Dense{Out: 32}, three, nn.Dense{Out: 1}}},
	}
}

// The kernels of a chain compute what the kernel fused does, but for rounding: tensor cores
// multiply, and sums have another order.
func TestChains(t *testing.T) {
	e := card(t)
	if !e.HasChains() {
		t.Skip("not run: chains have kernels of their own from compute capability 9.0 on")
	}
	const rows = 300
	for _, c := range chains() {
		x, v, y := make([]float32, rows*c.in), make([]float32, rows*c.in), make([]float32, rows*c.out)
		for i := range x {
			x[i], v[i] = float32(rng.Normal(rng.New(1), uint64(i))), float32(0.1*rng.Uniform(rng.New(2), uint64(i)))
		}
		for i := range y {
			y[i] = float32(rng.Normal(rng.New(3), uint64(i)))
		}
		b := gauss.Fixed(c.in, x)
		form := nn.Fixed
		if c.uncertain {
			b, form = gauss.Batch[float32]{Rows: rows, Width: c.in, Mean: x, Var: v}, nn.Independent
		}
		s, err := data.NewTable(b, c.out, y)
		if err != nil {
			t.Fatal(err)
		}
		type outcome struct {
			score  engine.Score
			change engine.Change
			theta  []float32
			y      gauss.Batch[float32]
			kernel string
		}
		run := func(batch int) (o outcome) {
			n := network(t, c.in, c.layers)
			p, err := e.Compile(n, form)
			if err != nil {
				t.Fatal(err)
			}
			o.y = gauss.Batch[float32]{Rows: rows, Width: c.out, Mean: make([]float32, len(y)), Var: make([]float32, len(y))}
			p.NewPredictor(compute.NewPool(1), rows).Predict(b, o.y)
			j := engine.Job{Data: s, Likelihood: likelihood.Normal{}, Optimizer: optim.Paper(), Batch: batch, Seed: rng.New(9), Pool: compute.NewPool(1)}
			tr, err := e.Train(n, j)
			if err != nil {
				t.Fatal(err)
			}
			defer tr.(interface{ Close() error }).Close()
			o.score = tr.Gradient(1)
			o.change = tr.Update(engine.Update{Step: 1, Rate: 1e-2, KL: 1e-3})
			if err := tr.Sync(); err != nil {
				t.Fatal(err)
			}
			o.theta, o.kernel = slices.Clone(tr.State().First.Theta), gpu.FirstKernel(tr)
			return o
		}
		for _, batch := range []int{5, 137} {
			got := run(batch)
			undo := gpu.SetChains(false)
			want := run(batch)
			undo()
			if !strings.HasPrefix(got.kernel, "chain_") || want.kernel != "fused" {
				t.Errorf("%s: kernels %s and %s", c.name, got.kernel, want.kernel)
			}
			if d := max(apart(got.y.Mean, want.y.Mean), apart(got.y.Var, want.y.Var)); !(d <= 2e-6) {
				t.Errorf("%s: predictions differ by %g of the largest", c.name, d)
			}
			if math.Abs(got.score.NLL-want.score.NLL) > 1e-5*math.Abs(want.score.NLL) || got.score.Floored != want.score.Floored {
				t.Errorf("%s, %d rows: scores %v and %v", c.name, batch, got.score, want.score)
			}
			if math.Abs(got.change.KL/want.change.KL-1) > 1e-12 || math.Abs(got.change.GradNorm/want.change.GradNorm-1) > 1e-5 {
				t.Errorf("%s, %d rows: %v and %v", c.name, batch, got.change, want.change)
			}
			if d := apart(got.theta, want.theta); !(d <= 5e-6) {
				t.Errorf("%s, %d rows: AdamW's first moments differ by %g of the largest", c.name, batch, d)
			}
		}
	}
}

// apart is the largest difference of two slices, by the largest number.
func apart(a, b []float32) float32 {
	most, worst := float32(0), float32(0)
	for i, x := range b {
		d := x - a[i]
		if most = max(most, x, -x); d != d {
			return d
		}
		worst = max(worst, d, -d)
	}
	return worst / most
}
