package train_test

import (
	"math"
	"path/filepath"
	"testing"

	"utvi/data"
	"utvi/gauss"
	"utvi/internal/special"
	"utvi/likelihood"
	"utvi/model"
	"utvi/nn"
	"utvi/optim"
	"utvi/rng"
	"utvi/train"
	"utvi/vi"
)

// part trains a line on rows from … to−1 of y = 2x + 1 with noise of variance 1. Weight and bias
// are independent in the posterior of every four rows.
func part(t *testing.T, m *model.Model, from, to int, clip float64) {
	t.Helper()
	x := gauss.Batch[float32]{Rows: to - from, Width: 1}
	var y []float32
	for i := from; i < to; i++ {
		v := []float32{-2, 1, -1, 2}[i%4]
		x.Mean = append(x.Mean, v)
		y = append(y, 2*v+1+float32(rng.Normal(rng.New(3), uint64(i))))
	}
	rows, err := data.NewTable(x, 1, y)
	if err != nil {
		t.Fatal(err)
	}
	const steps = 1500
	o := optim.Paper()
	o.Rate = optim.Cosine(0.03, steps)
	o.DecayOn = optim.DecayNone
	o.Clip = clip
	tr, err := train.New(m, train.Config{Data: rows, Likelihood: likelihood.ExpectedNormal{Std: 1}, Optimizer: o, KL: optim.FullKL(), Steps: steps, Batch: to - from, Prior: &vi.EmpiricalBayes{Every: 7}})
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	if err := tr.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// A line that learns half of the rows, is promoted, stored, loaded, and learns the other half, ends
// where all rows at once lead: at the exact posterior under the first prior.
func TestPromote(t *testing.T) {
	for _, clip := range []float64{0, 100} {
		m, err := model.New(model.Config{Input: nn.Vec(1), Layers: nn.Chain{nn.Dense{Out: 1}}, Seed: 1, Init: vi.Std(0.3)})
		if err != nil {
			t.Fatal(err)
		}
		m.Params.Promote(1) // N(0, 1) for each weight, which empirical Bayes leaves alone
		part(t, m, 0, 8, clip)
		m.Params.Promote(0)
		path := filepath.Join(t.TempDir(), "promoted.utvi")
		if err := m.Save(path); err != nil {
			t.Fatal(err)
		}
		m, err = model.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		part(t, m, 8, 24, clip)
		for _, x := range m.Params.Tensors {
			mean, variance := exact(24, x.Name == "0.dense.bias")
			sd := math.Sqrt(variance)
			if d := math.Abs(float64(x.Mean[0])-mean) / sd; !(d < 0.02) {
				t.Errorf("clip %v: the mean of %s is %v, want %.4f", clip, x.Name, x.Mean[0], mean)
			}
			if r := special.Softplus(float64(x.Rho[0])) / sd; !(math.Abs(r-1) < 0.02) {
				t.Errorf("clip %v: σ of %s is %.3f of what it should be", clip, x.Name, r)
			}
		}
	}
}

// exact is the posterior of the weight or the bias after n rows.
func exact(n int, bias bool) (mean, variance float64) {
	precision := 1.0
	for i := range n {
		v := []float64{-2, 1, -1, 2}[i%4]
		y := 2*v + 1 + rng.Normal(rng.New(3), uint64(i))
		if bias {
			v = 1
		}
		precision += v * v
		mean += v * y
	}
	return mean / precision, 1 / precision
}
