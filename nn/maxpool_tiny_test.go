package nn_test

import (
	"math"
	"testing"

	"utvi/fn"
	"utvi/gauss"
	"utvi/moment"
	"utvi/nn"
	"utvi/rng"
	"utvi/vi"
)

// Behind a ReLU some cells have variances that float32 can hardly hold beside means of
// usual size. The gradients of a maximum with correlations stay finite.
func TestMaxPoolOfTinyVariances(t *testing.T) {
	const rows, width = 64, 16
	l := correlated(nn.Apply{F: fn.ReLU(), Rule: moment.Exact()}, nn.MaxPool2D{Size: [2]int{2, 2}}, nn.Dense{Out: 2})
	b := &nn.Binder[float32]{Params: &vi.Params[float32]{}, In: nn.Shape{H: 4, W: 4, C: 1}, Form: nn.Independent, Name: "layer", Train: true}
	u, err := nn.Bind(nn.Layer(l), b)
	if err != nil {
		t.Fatal(err)
	}
	b.Params.Alloc()
	b.Params.Start(rng.New(2), vi.Std(0.3))
	r := u.NewRunner(rows, true)
	for i := range u.PrepareTiles() {
		r.Prepare(i)
	}
	p := &nn.Pass[float32]{In: gauss.New[float32](rows, width), Out: gauss.New[float32](rows, 2), DIn: gauss.New[float32](rows, width), DOut: gauss.New[float32](rows, 2), Tape: make([]float32, rows*u.TapeWidth())}
	for i := range p.In.Mean {
		p.In.Mean[i] = -20
		if i%5 < 2 {
			p.In.Mean[i] = -float32(8 + 5*float64(i)/float64(len(p.In.Mean))) // standard deviations below 0
		}
		p.In.Var[i] = 1
	}
	for i := range p.DOut.Mean {
		p.DOut.Mean[i], p.DOut.Var[i] = 1, -0.5
	}
	r.Forward(p)
	r.Backward(p)
	for i, g := range p.DIn.Mean {
		if h := p.DIn.Var[i]; math.IsNaN(float64(g-g)) || math.IsNaN(float64(h-h)) {
			t.Fatalf("the gradients by N(%v, %v) are %v and %v", p.In.Mean[i], p.In.Var[i], g, h)
		}
	}
}
