package train_test

import (
	"fmt"
	"testing"

	"utvi/data"
	"utvi/fn"
	"utvi/likelihood"
	"utvi/model"
	"utvi/nn"
	"utvi/rng"
	"utvi/train"
	"utvi/vi"
)

// What a step costs by moments and by draws, with and without a fitted prior.
func BenchmarkStep(b *testing.B) {
	for _, draws := range []int{0, 1, 2, 4} {
		for _, prior := range []*vi.EmpiricalBayes{nil, {}} {
			b.Run(fmt.Sprintf("draws=%d/fitted=%v", draws, prior != nil), func(b *testing.B) {
				act := nn.Apply{F: fn.LeakyReLU(0.01)}
				m, err := model.New(model.Config{Input: nn.Vec(64), Layers: nn.Chain{
					nn.Dense{Out: 512}, act, nn.Dense{Out: 512}, act, nn.Dense{Out: 512}, act, nn.Dense{Out: 8}}})
				if err != nil {
					b.Fatal(err)
				}
				g := &data.Generator{N: 1000, In: 64, Out: 4, Generate: func(_ rng.Key, row uint64, x, y []float32) { x[row%64] = 1 }}
				tr, err := train.New(m, train.Config{Data: g, Batch: 256, Steps: 1 << 30, Draws: draws, Prior: prior, Workers: 1, Likelihood: likelihood.Heteroscedastic{}})
				if err != nil {
					b.Fatal(err)
				}
				defer tr.Close()
				for b.Loop() {
					if _, err := tr.Advance(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
