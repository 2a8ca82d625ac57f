package nn_test

import (
	"fmt"
	"testing"
	"time"

	"utvi/gauss"
	"utvi/internal/compute/product"
	"utvi/nn"
	"utvi/rng"
	"utvi/vi"
)

// BenchmarkConv2D reports what part of the peak, measured in the same run, each
// phase of a step reaches. Only the multiply-adds that the moments need count:
// three a weight and place forward (two for an image without variance), three
// for the image's gradients, three for the weights'.
func BenchmarkConv2D(b *testing.B) {
	for _, c := range []struct {
		in  nn.Shape
		l   nn.Layer
		det bool
	}{
		{nn.Shape{H: 8, W: 8, C: 1}, nn.Conv2D{Out: 8, Kernel: [2]int{3, 3}}, true},
		{nn.Shape{H: 8, W: 8, C: 1}, nn.Conv2D{Out: 8, Kernel: [2]int{3, 3}}, false},
		{nn.Shape{H: 28, W: 28, C: 1}, nn.Conv2D{Out: 32, Kernel: [2]int{3, 3}, Padding: nn.Same}, false},
		{nn.Shape{H: 28, W: 28, C: 16}, nn.Conv2D{Out: 32, Kernel: [2]int{3, 3}, Padding: nn.Same}, false},
		{nn.Shape{H: 14, W: 14, C: 64}, nn.Conv2D{Out: 64, Kernel: [2]int{3, 3}, Padding: nn.Same}, false},
		{nn.Shape{H: 14, W: 14, C: 64}, nn.Conv2D{Out: 64, Kernel: [2]int{3, 3}, Padding: nn.Same, Groups: 4}, false},
		{nn.Shape{H: 14, W: 14, C: 64}, nn.Conv2D{Out: 64, Kernel: [2]int{3, 3}, Padding: nn.Same, Groups: 64}, false},
		{nn.Shape{H: 14, W: 14, C: 64}, nn.Conv2D{Out: 64, Kernel: [2]int{3, 3}, Padding: nn.Same, Dilation: [2]int{2, 2}}, false},
		{nn.Shape{H: 14, W: 14, C: 32}, nn.ConvTranspose2D{Out: 16, Kernel: [2]int{4, 4}, Stride: 2, Pad: [4]int{1, 1, 1, 1}}, false},
		{nn.Shape{H: 7, W: 7, C: 64}, nn.ConvTranspose2D{Out: 32, Kernel: [2]int{2, 2}, Stride: 2}, false},
		{nn.Shape{H: 14, W: 14, C: 32}, nn.ConvTranspose2D{Out: 32, Kernel: [2]int{3, 3}, Pad: [4]int{1, 1, 1, 1}}, false},
	} {
		b.Run(fmt.Sprintf("%v by %+v det=%v", c.in, c.l, c.det), func(b *testing.B) { benchConv(b, c.l, c.in, c.det) })
	}
}

func benchConv(b *testing.B, l nn.Layer, in nn.Shape, det bool) {
	const rows = 8
	form := nn.Independent
	if det {
		form = nn.Fixed
	}
	binder := &nn.Binder[float32]{Params: &vi.Params[float32]{}, In: in, Form: form, Name: "conv", Train: true}
	u, err := nn.Bind(l, binder)
	if err != nil {
		b.Fatal(err)
	}
	binder.Params.Alloc()
	binder.Params.AllocGrads()
	binder.Params.Start(rng.New(1), vi.Init{})
	r := u.NewRunner(rows, true)
	for i := range u.PrepareTiles() {
		r.Prepare(i)
	}
	p := &nn.Pass[float32]{Tape: make([]float32, rows*u.TapeWidth())}
	p.In, p.DIn = gauss.New[float32](rows, in.Size()), gauss.New[float32](rows, in.Size())
	p.Out, p.DOut = gauss.New[float32](rows, u.Out().Size()), gauss.New[float32](rows, u.Out().Size())
	products := 3.0
	if det {
		p.In.Var, p.DIn.Var = nil, nil
		products = 2
	}
	blocks := []nn.Block[float32]{{Rows: rows, Tape: p.Tape}}
	phases := []struct {
		name string
		do   func()
		best time.Duration
	}{
		{name: "forward", do: func() { r.Forward(p) }},
		{name: "backward", do: func() { r.Backward(p) }},
		{name: "gradient", do: func() {
			for i := range u.GradTiles() {
				r.Gradient(i, blocks)
			}
		}},
	}
	var peak float64
	for n := 0; b.Loop(); n++ {
		if n%64 == 0 {
			peak = max(peak, product.PeakGFLOPS(time.Millisecond))
		}
		for i := range phases {
			f := &phases[i]
			start := time.Now()
			f.do()
			if d := time.Since(start); f.best == 0 || d < f.best {
				f.best = d
			}
		}
	}
	// Every weight meets every place of the smaller image once.
	out := u.Out()
	places := min(in.H*in.W, out.H*out.W)
	ops := 2 * products * rows * float64(len(binder.Params.Tensors[0].Mean)) * float64(places)
	for _, f := range phases {
		ns := float64(f.best.Nanoseconds())
		b.ReportMetric(ns/rows/1000, "µs/image-"+f.name)
		b.ReportMetric(100*ops/ns/peak, "%peak-"+f.name)
	}
}
