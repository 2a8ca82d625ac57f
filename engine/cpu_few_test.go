package engine_test

import (
	"slices"
	"testing"

	"utvi/fn"
	"utvi/gauss"
	"utvi/internal/compute"
	"utvi/model"
	"utvi/moment"
	"utvi/nn"
	"utvi/rng"
)

// A few rows through wide layers are shared among workers by outputs: the bits do not
// depend on how many there are, and nothing is allocated.
func TestFewRows(t *testing.T) {
	act := nn.Apply{F: fn.LeakyReLU(0.01), Rule: moment.UT(2)}
	for name, layers := range map[string]nn.Chain{
		"random":     {nn.Dense{Out: 700}, act, nn.Residual{Branch: nn.Chain{nn.Dense{Out: 700}, act}}, nn.Dense{Out: 3}},
		"fixed":      {nn.Dense{Out: 1000, Fixed: true}, act, nn.Dense{Out: 700, Fixed: true}},
		"correlated": {nn.Correlated{Layers: nn.Chain{nn.Dense{Out: 700}, act, nn.Dense{Out: 500}, act, nn.Dense{Out: 2}}}},
	} {
		m, err := model.New(model.Config{Input: nn.Vec(300), Layers: layers, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		for _, rows := range []int{1, 7, 25} {
			x := gauss.Fixed(300, make([]float32, rows*300))
			for i := range x.Mean {
				x.Mean[i] = float32(rng.Normal(rng.New(2), uint64(i)))
			}
			want := m.NewPredictor(rows).Predict(x)
			for _, workers := range []int{2, 5} {
				pool := compute.NewPool(workers)
				p := m.NewPredictorOn(pool, rows)
				got := p.Predict(x)
				if !slices.Equal(got.Mean, want.Mean) || !slices.Equal(got.Var, want.Var) {
					t.Errorf("%s: %d rows differ with %d workers", name, rows, workers)
				}
				// Of many runs: Go's runtime allocates now and then by itself.
				if n := testing.AllocsPerRun(20, func() { p.Predict(x) }); n > 0 {
					t.Errorf("%s: %d rows with %d workers allocate %v times", name, rows, workers, n)
				}
				pool.Close()
			}
		}
	}
}
