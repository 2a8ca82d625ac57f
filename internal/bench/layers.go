package bench

import (
	"context"
	"time"

	"utvi/fn"
	"utvi/gauss"
	"utvi/internal/localization"
	"utvi/moment"
	"utvi/nn"
	"utvi/rng"
	"utvi/vi"
)

// A Layer is the figure of one layer: nanoseconds per output unit, one thread.
type Layer struct {
	Name     string  `json:"name"`
	Input    string  `json:"input"`
	Output   string  `json:"output"`
	Forward  float64 `json:"forward_ns"`
	Backward float64 `json:"backward_ns"` // parameter gradients included
}

// benchLayers are the layers beside Dense, whose products have figures of their
// own, each on an input of usual size.
var benchLayers = []struct {
	name  string
	layer nn.Layer
	in    nn.Shape
}{
	{"conv2d 3x3", nn.Conv2D{Out: 32, Kernel: [2]int{3, 3}, Padding: nn.Same}, nn.Shape{H: 28, W: 28, C: 16}},
	{"conv2d 3x3, one channel", nn.Conv2D{Out: 8, Kernel: [2]int{3, 3}}, nn.Shape{H: 8, W: 8, C: 1}},
	{"conv1d 5", nn.Conv1D{Out: 32, Kernel: 5, Padding: nn.Same}, nn.Shape{H: 1, W: 128, C: 16}},
	{"conv2d 3x3, 4 groups", nn.Conv2D{Out: 64, Kernel: [2]int{3, 3}, Padding: nn.Same, Groups: 4}, nn.Shape{H: 14, W: 14, C: 64}},
	{"conv2d 3x3, depthwise", nn.Conv2D{Out: 64, Kernel: [2]int{3, 3}, Padding: nn.Same, Groups: 64}, nn.Shape{H: 14, W: 14, C: 64}},
	{"convtranspose2d 4x4", nn.ConvTranspose2D{Out: 16, Kernel: [2]int{4, 4}, Stride: 2, Pad: [4]int{1, 1, 1, 1}}, nn.Shape{H: 14, W: 14, C: 32}},
	{"avgpool2d 2x2", nn.AvgPool2D{Size: [2]int{2, 2}}, nn.Shape{H: 28, W: 28, C: 16}},
	{"maxpool2d 2x2", nn.MaxPool2D{Size: [2]int{2, 2}}, nn.Shape{H: 28, W: 28, C: 16}},
	{"flatten", nn.Flatten{}, nn.Shape{H: 14, W: 14, C: 16}},
	{"apply leaky-relu ut", nn.Apply{F: fn.LeakyReLU(0.01), Rule: moment.UT(2)}, nn.Vec(512)},
	{"apply tanh ut", nn.Apply{F: fn.Tanh(), Rule: moment.UT(2)}, nn.Vec(512)},
	{"apply relu exact", nn.Apply{F: fn.ReLU(), Rule: moment.Exact()}, nn.Vec(512)},
	{"apply user's function ut", nn.Apply{F: &moment.Func{F: func(x float64) float64 { return x / (1 + x*x) }}, Rule: moment.UT(2)}, nn.Vec(512)},
	{"apply x/(1+x*x) ut", nn.Apply{F: fn.MustFormula("x/(1+x*x)"), Rule: moment.UT(2)}, nn.Vec(512)},
	{"apply mish ut", nn.Apply{F: fn.MustFormula("x*tanh(softplus(x))"), Rule: moment.UT(2)}, nn.Vec(512)},
	{"apply a*tanh(b*x) learned ut", nn.Apply{F: fn.MustFormula("a*tanh(b*x)", fn.Learned("a", 1), fn.LearnedPerUnit("b", 0.5)), Rule: moment.UT(2)}, nn.Vec(512)},
	{"residual tanh ut", nn.Residual{Branch: nn.Chain{nn.Apply{F: fn.Tanh(), Rule: moment.UT(2)}}}, nn.Vec(512)},
	{"layernorm", nn.LayerNorm{}, nn.Vec(512)},
	{"batchnorm", nn.BatchNorm{Mean: make([]float64, 16), Var: ones(16)}, nn.Shape{H: 14, W: 14, C: 16}},
	{"dropout", nn.Dropout{P: 0.2}, nn.Vec(512)},
	{"noise", nn.Noise{}, nn.Vec(512)},
	{"scale", nn.Scale{}, nn.Vec(512)},
	{"joint softmax", nn.Joint{Map: fn.Softmax()}, nn.Vec(10)},
	{"stochastic slope", nn.Stochastic{Name: "slope", F: func(x, t float64) float64 { return x * t }, Mean: 1}, nn.Vec(64)},
	{"conditional photon", nn.Conditional{Target: 2, Given: []int{0, 1}, Location: localization.PhotonNode(100, 1.05, 8)}, nn.Vec(3)},
	{"conditional photon joint", nn.Conditional{Target: 2, Given: []int{0, 1}, Location: localization.PhotonNode(100, 1.05, 8), Joint: true}, nn.Vec(3)},
}

func ones(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = 1
	}
	return x
}

// layers lists the measurements of layers; their results go to r.
func layers(r *Report) []timing {
	var todo []timing
	for _, l := range benchLayers {
		todo = append(todo, timing{"layer " + l.name, func(_ context.Context, windows int, window time.Duration) error {
			f, err := layer(l.layer, l.in, windows, window)
			f.Name = l.name
			r.Layers = append(r.Layers, f)
			return err
		}})
	}
	return todo
}

// layer measures a layer on a few rows of random moments.
func layer(l nn.Layer, in nn.Shape, windows int, window time.Duration) (Layer, error) {
	const rows = 12
	b := &nn.Binder[float32]{Params: &vi.Params[float32]{}, In: in, Form: nn.Independent, Name: "layer", Train: true}
	u, err := nn.Bind(l, b)
	if err != nil {
		return Layer{}, err
	}
	b.Params.Alloc()
	b.Params.AllocGrads()
	b.Params.Start(rng.New(1), vi.Init{})
	run := u.NewRunner(rows, true)
	for i := range u.PrepareTiles() {
		run.Prepare(i)
	}
	batch := func(width int, seed uint64) gauss.Batch[float32] {
		return gauss.Batch[float32]{Rows: rows, Width: width, Mean: noise(rows*width, seed), Var: positive(rows*width, seed+1)}
	}
	p := &nn.Pass[float32]{In: batch(in.Size(), 1), Out: batch(u.Out().Size(), 3), DIn: batch(in.Size(), 5), DOut: batch(u.Out().Size(), 7)}
	p.Tape = make([]float32, rows*u.TapeWidth())
	blocks := []nn.Block[float32]{{Rows: rows, Tape: p.Tape}}

	f := Layer{Input: in.String(), Output: u.Out().String()}
	units := float64(rows * u.Out().Size())
	f.Forward = 1e9 / units * measure(windows, window, 0, 1, func() { run.Forward(p) }).seconds
	f.Backward = 1e9 / units * measure(windows, window, 0, 1, func() {
		run.Backward(p)
		for i := range u.GradTiles() {
			run.Gradient(i, blocks)
		}
	}).seconds
	return f, nil
}
