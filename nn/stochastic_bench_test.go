package nn_test

import (
	"testing"

	"utvi/fn"
	"utvi/gauss"
	"utvi/internal/localization"
	"utvi/nn"
	"utvi/vi"
)

// BenchmarkCompositeUnit times what these layers take for a unit, forward and backward.
func BenchmarkCompositeUnit(b *testing.B) {
	for name, l := range map[string]nn.Layer{
		"stochastic":        slope(nn.Stochastic{Mean: 1, Std: 0.1}),
		"softmax":           nn.Joint{Map: fn.Softmax()},
		"residual tanh":     nn.Residual{Branch: nn.Apply{F: fn.Tanh()}},
		"layernorm":         nn.LayerNorm{},
		"dropout":           nn.Dropout{P: 0.2},
		"noise":             nn.Noise{},
		"conditional":       nn.Conditional{Target: 2, Given: []int{0, 1}, Location: localization.PhotonNode(100, 1, 8)},
		"conditional joint": nn.Conditional{Target: 2, Given: []int{0, 1}, Location: localization.PhotonNode(100, 1, 8), Joint: true},
	} {
		b.Run(name, func(b *testing.B) {
			const rows, width = 64, 10
			binder := &nn.Binder[float32]{Params: &vi.Params[float32]{}, In: nn.Vec(width), Form: nn.Independent, Train: true}
			u, err := nn.Bind(l, binder)
			if err != nil {
				b.Fatal(err)
			}
			binder.Params.Alloc()
			r := u.NewRunner(rows, true)
			p := &nn.Pass[float32]{Tape: make([]float32, rows*u.TapeWidth())}
			for _, x := range []*gauss.Batch[float32]{&p.In, &p.Out, &p.DIn, &p.DOut} {
				*x = gauss.New[float32](rows, width)
				for i := range x.Var {
					x.Mean[i], x.Var[i] = float32(i%7)-3, 0.5
				}
			}
			for b.Loop() {
				r.Forward(p)
				r.Backward(p)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows/width, "ns/unit")
		})
	}
}
