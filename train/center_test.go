package train_test

import (
	"math"
	"testing"

	"utvi/data"
	"utvi/model"
	"utvi/nn"
	"utvi/rng"
	"utvi/train"
	"utvi/vi"
)

// The KL pulls weights towards the centre of their prior, also if the standard deviation
// of the prior is fitted.
func TestCenter(t *testing.T) {
	for _, prior := range []*vi.EmpiricalBayes{nil, {Every: 50}} {
		m, err := model.New(model.Config{Input: nn.Vec(1), Layers: nn.Chain{nn.Dense{Out: 1}}, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range m.Params.Tensors {
			x.Center = []float32{5}
			x.Mean[0] = 6
			x.Prior = vi.Prior{Std: 0.1}
		}
		m.Changed()
		tr, err := train.New(m, train.Config{
			Data:  &data.Generator{N: 1, In: 1, Out: 1, Generate: func(_ rng.Key, _ uint64, x, y []float32) { x[0], y[0] = 0, 5 }},
			Steps: 3000, Batch: 1, Prior: prior,
		})
		if err != nil {
			t.Fatal(err)
		}
		defer tr.Close()
		before := m.Params.KL()
		if err := tr.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		w := m.Params.Tensors[0] // which the data do not see
		if d := math.Abs(float64(w.Mean[0] - 5)); d > 0.02 || !(m.Params.KL() < before/10) {
			t.Errorf("prior %v: the weight is %v, the KL %v (before %v)", prior, w.Mean[0], m.Params.KL(), before)
		}
	}
}
