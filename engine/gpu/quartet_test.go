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

// quartets are networks whose broad layer four blocks share: the paper's, with other widths,
// images with borders and several channels, and every kind of layer behind the last one.
func quartets() map[string]struct {
	in, out int
	layers  nn.Chain
} {
	act := func(r moment.Rule) nn.Apply { return nn.Apply{F: fn.LeakyReLU(0.01), Rule: r} }
	three, exact, hermite, drawn := act(moment.UT(2)), act(moment.Exact()), act(moment.GaussHermite(5)), act(moment.MonteCarlo(6))
	photons := nn.Conditional{Target: 2, Given: []int{0, 1}, Location: nn.PhotonNode(100, 1.05, 8)}
	padded := nn.Conv2D{Out: 4, Kernel: [2]int{2, 3}, Stride: 2, Pad: [4]int{1, 2, 1, 0}}
	type network = struct {
		in, out int
		layers  nn.Chain
	}
	return map[string]network{
		"the paper's": {64, 3, nn.Chain{nn.Conv2D{Out: 8, Kernel: [2]int{3, 3}}, three, nn.Dense{Out: 128}, three, nn.Dense{Out: 3}, nn.Scale{},
			nn.Apply{F: fn.NormalInverse(), Rule: moment.UT(2)}, nn.Multiply{By: []float64{2, 2, 1}}, photons}},
		"plain":       {50, 1, nn.Chain{padded, exact, nn.Dense{Out: 64}, exact, nn.Dense{Out: 1}}},
		"many points": {64, 4, nn.Chain{nn.Conv2D{Out: 4, Kernel: [2]int{3, 3}}, hermite, nn.Dense{Out: 32}, exact, nn.Dense{Out: 4}, nn.Apply{F: fn.Tanh(), Rule: moment.GaussHermite(32)}, nn.Multiply{By: []float64{2, 2, 1, 3}}, photons, nn.Noise{}}},
		"draws":       {64, 5, nn.Chain{nn.Conv2D{Out: 4, Kernel: [2]int{3, 3}}, drawn, nn.Dense{Out: 32}, three, nn.Dense{Out: 5}, nn.Apply{F: fn.Sigmoid(), Rule: moment.MonteCarlo(7)}, nn.Scale{}}},
	}
}

// The kernels of a quartet agree with the kernel fused, and both with the processor; rows
// have the bits that they have in other batches.
func TestQuartets(t *testing.T) {
	e := card(t)
	if !e.HasQuartets() {
		t.Skip("not run: quartets have kernels of their own from compute capability 9.0 on")
	}
	const rows = 61
	for name, c := range quartets() {
		x, y := make([]float32, rows*c.in), make([]float32, rows*c.out)
		for i := range x {
			x[i] = float32(rng.Normal(rng.New(1), uint64(i)))
		}
		for i := range y {
			y[i] = float32(rng.Normal(rng.New(3), uint64(i)))
		}
		b := gauss.Fixed(c.in, x)
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
			p, err := e.Compile(n, nn.Fixed)
			if err != nil {
				t.Fatal(err)
			}
			o.y = gauss.New[float32](rows, c.out)
			q := p.NewPredictor(compute.NewPool(1), rows)
			q.Predict(b, o.y)
			few := gauss.New[float32](3, c.out)
			if q.Predict(b.Slice(0, 3), few); !slices.Equal(few.Mean, o.y.Mean[:3*c.out]) || !slices.Equal(few.Var, o.y.Var[:3*c.out]) {
				t.Errorf("%s: three rows have other bits than among all", name)
			}
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
		for _, batch := range []int{5, 43} {
			got := run(batch)
			undo := gpu.SetQuartets(false)
			want := run(batch)
			undo()
			if !strings.HasPrefix(got.kernel, "quartet_") || !strings.HasPrefix(want.kernel, "fused") {
				t.Errorf("%s: kernels %s and %s", name, got.kernel, want.kernel)
			}
			if a, b := off(got.y.Mean, want.y.Mean), off(got.y.Var, want.y.Var); !(a < 2e-6 && b < 5e-6) {
				t.Errorf("%s: predicted means are off by %.1e, variances by %.1e", name, a, b)
			}
			if math.Abs(got.score.NLL/want.score.NLL-1) > 1e-6 || got.score.Floored != want.score.Floored {
				t.Errorf("%s, %d rows: scores %v and %v", name, batch, got.score, want.score)
			}
			if math.Abs(got.change.KL/want.change.KL-1) > 1e-12 || math.Abs(got.change.GradNorm/want.change.GradNorm-1) > 1e-5 {
				t.Errorf("%s, %d rows: %v and %v", name, batch, got.change, want.change)
			}
			if d := off(got.theta, want.theta); !(d < 5e-6) {
				t.Errorf("%s, %d rows: AdamW's first moments are off by %.1e", name, batch, d)
			}
		}
	}
}
