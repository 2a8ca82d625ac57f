package gpu_test

import (
	"math"
	"slices"
	"testing"

	"utvi/data"
	"utvi/engine"
	"utvi/engine/gpu"
	"utvi/gauss"
	"utvi/internal/compute"
	"utvi/likelihood"
	"utvi/nn"
	"utvi/optim"
	"utvi/rng"
)

// A way is what one set of kernels makes of a network: predictions of all rows, and a step.
type way struct {
	y      gauss.Batch[float32]
	score  engine.Score
	change engine.Change
	theta  []float32 // AdamW's first moments
	kernel string    // the first of the step
}

// wayOf predicts rows and trains on them. Three rows have the bits that they have among all.
func wayOf(t *testing.T, e *gpu.Engine, in int, layers nn.Chain, rows gauss.Batch[float32], s *data.Table, out, batch int, beside ...int) (w way) {
	t.Helper()
	form := nn.Fixed
	if rows.Var != nil {
		form = nn.Independent
	}
	n := network(t, in, layers)
	p, err := e.Compile(n, form)
	if err != nil {
		t.Fatal(err)
	}
	w.y = gauss.New[float32](rows.Rows, out)
	q := p.NewPredictor(compute.NewPool(1), rows.Rows)
	q.Predict(rows, w.y)
	few := gauss.New[float32](3, out)
	if q.Predict(rows.Slice(0, 3), few); !slices.Equal(few.Mean, w.y.Mean[:3*out]) || !slices.Equal(few.Var, w.y.Var[:3*out]) {
		t.Error("three rows have other bits than among all")
	}
	job := engine.Job{Data: s, Likelihood: likelihood.Normal{}, Optimizer: optim.Paper(), Batch: batch, Seed: rng.New(9), Pool: compute.NewPool(1)}
	for _, n := range beside {
		job.Beside = n
	}
	tr, err := e.Train(n, job)
	if err != nil {
		t.Fatal(err)
	}
	defer tr.(interface{ Close() error }).Close()
	w.score = tr.Gradient(1)
	w.change = tr.Update(engine.Update{Step: 1, Rate: 1e-2, KL: 1e-3})
	if err := tr.Sync(); err != nil {
		t.Fatal(err)
	}
	w.theta, w.kernel = slices.Clone(tr.State().First.Theta), gpu.FirstKernel(tr)
	return w
}

// sameWay compares two ways, which round differently; variances, nll and kl are how far these may
// be off.
func sameWay(t *testing.T, got, want way, variances, nll, kl float64) {
	t.Helper()
	if a, b := off(got.y.Mean, want.y.Mean), off(got.y.Var, want.y.Var); !(a <= 2e-6 && b <= variances) {
		t.Errorf("predicted means are off by %.1e, variances by %.1e", a, b)
	}
	if !(math.Abs(got.score.NLL/want.score.NLL-1) <= nll) || got.score.Floored != want.score.Floored {
		t.Errorf("scores %v and %v", got.score, want.score)
	}
	if !(math.Abs(got.change.KL/want.change.KL-1) <= kl && math.Abs(got.change.GradNorm/want.change.GradNorm-1) <= 1e-5) {
		t.Errorf("changes %v and %v", got.change, want.change)
	}
	if d := off(got.theta, want.theta); !(d <= 5e-6) {
		t.Errorf("AdamW's first moments are off by %.1e", d)
	}
}

// someRows draws inputs, their variances if they are uncertain, and targets.
func someRows(t *testing.T, rows, in, out int, uncertain bool) (gauss.Batch[float32], *data.Table) {
	t.Helper()
	b, y := gauss.New[float32](rows, in), make([]float32, rows*out)
	for i := range b.Mean {
		b.Mean[i], b.Var[i] = float32(rng.Normal(rng.New(1), uint64(i))), float32(0.1*rng.Uniform(rng.New(2), uint64(i)))
	}
	for i := range y {
		y[i] = float32(rng.Normal(rng.New(3), uint64(i)))
	}
	if !uncertain {
		b.Var = nil
	}
	s, err := data.NewTable(b, out, y)
	if err != nil {
		t.Fatal(err)
	}
	return b, s
}
