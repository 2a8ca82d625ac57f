package nn_test

import (
	"testing"
	"time"

	"utvi/gauss"
	"utvi/nn"
	"utvi/rng"
	"utvi/vi"
)

// BenchmarkPool reports the best time per input cell of forward and backward.
func BenchmarkPool(b *testing.B) {
	in := nn.Shape{H: 28, W: 28, C: 16}
	for _, l := range []nn.Layer{nn.AvgPool2D{Size: [2]int{2, 2}}, nn.MaxPool2D{Size: [2]int{2, 2}}} {
		u, err := nn.Bind(l, &nn.Binder[float32]{Params: &vi.Params[float32]{}, In: in, Form: nn.Independent})
		if err != nil {
			b.Fatal(err)
		}
		p := &nn.Pass[float32]{In: gauss.New[float32](1, in.Size()), DIn: gauss.New[float32](1, in.Size())}
		p.Out, p.DOut = gauss.New[float32](1, u.Out().Size()), gauss.New[float32](1, u.Out().Size())
		for i := range p.In.Mean {
			p.In.Mean[i], p.In.Var[i] = float32(rng.Normal(rng.New(1), uint64(i))), 0.5
		}
		r := u.NewRunner(1, true)
		for name, do := range map[string]func(*nn.Pass[float32]){"forward": r.Forward, "backward": r.Backward} {
			b.Run(l.Kind()+"/"+name, func(b *testing.B) {
				best := time.Hour
				for b.Loop() {
					start := time.Now()
					do(p)
					best = min(best, time.Since(start))
				}
				b.ReportMetric(float64(best.Nanoseconds())/float64(in.Size()), "ns/cell")
			})
		}
	}
}
