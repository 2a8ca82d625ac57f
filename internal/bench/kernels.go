package bench

import (
	"context"
	"fmt"
	"time"
	"utvi/internal/compute/affine"
	"utvi/internal/compute/product"
	"utvi/rng"
)

// blockRows is the block in which networks call the products.
const blockRows = 96

// kernels lists the measurements of single kernels; their results go to r.
func kernels(r *Report) []timing {
	var todo []timing
	add := func(name, shape string, run func(windows int, window time.Duration) Kernel) {
		todo = append(todo, timing{name + " " + shape, func(_ context.Context, windows int, window time.Duration) error {
			k := run(windows, window)
			k.Name, k.Shape = name, shape
			r.Kernels = append(r.Kernels, k)
			return nil
		}})
	}
	for _, s := range [][3]int{{1024, 128, 128}, {1024, 1024, 1024}} {
		b := s[0]
		k := s[1]
		n := s[2]
		shape := fmt.Sprintf("%dx%dx%d", b, k, n)
		add("product", shape, func(w int, d time.Duration) Kernel { return productRate(b, k, n, w, d) })
		add("dense_forward", shape, func(w int, d time.Duration) Kernel { return denseForward(b, k, n, w, d) })
		add("dense_backward", shape, func(w int, d time.Duration) Kernel { return denseBackward(b, k, n, w, d) })
	}
	for _, e := range elementwise() {
		add(e.name, "", func(w int, d time.Duration) Kernel {
			g := measure(w, d, 0, 1, e.run)
			return Kernel{Threads: 1, NsElem: 1e9 * g.seconds / elements}
		})
	}
	return todo
}

func noise(n int, seed uint64) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(rng.Normal(rng.New(seed), uint64(i)))
	}
	return x
}

func positive(n int, seed uint64) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(0.1 + rng.Uniform(rng.New(seed), uint64(i)))
	}
	return x
}

func percent(g figure) Kernel {
	return Kernel{Threads: 1, GFLOPS: g.gflops, Percent: 100 / g.overFloor}
}

func productRate(b, k, n, windows int, window time.Duration) Kernel {
	a, c := noise(b*k, 1), make([]float32, b*n)
	r := product.NewRight[float32](k, n)
	r.Pack(noise(k*n, 2), n, 1)
	return percent(measure(windows, window, 2*float64(b)*float64(k)*float64(n), 1, func() {
		product.Mul(product.To(c, n), product.Rows(a, k), b, r)
	}))
}

// dense is a prepared layer with a batch of inputs and gradients.
type dense struct {
	d                     *affine.Dense[float32]
	mean, m, v, g, h      []float32
	mo, vo, dm, dv        []float32
	scratch, gw, gs, work []float32
	blocks                []affine.TapeBlock[float32]
}

func newDense(b, k, n int) *dense {
	x := &dense{d: affine.NewDense[float32](k, n, true, true), mean: noise(k*n, 3)}
	rho := noise(k*n, 4)
	scratch := make([]float32, x.d.PrepareScratch())
	for t := range x.d.PrepareTiles() {
		x.d.Prepare(t, x.mean, rho, scratch)
	}
	x.m = noise(b*k, 5)
	x.v = positive(b*k, 6)
	x.g = noise(b*n, 7)
	x.h = noise(b*n, 8)
	x.mo, x.vo = make([]float32, b*n), make([]float32, b*n)
	x.dm, x.dv = make([]float32, b*k), make([]float32, b*k)
	x.scratch = make([]float32, x.d.Scratch(blockRows))
	x.gw = make([]float32, k*n)
	x.gs = make([]float32, k*n)
	x.work = make([]float32, x.d.GradScratch(blockRows))
	width := x.d.TapeWidth()
	tape := make([]float32, b*width)
	for lo := 0; lo < b; lo += blockRows {
		rows := min(blockRows, b-lo)
		x.blocks = append(x.blocks, affine.TapeBlock[float32]{Rows: rows, Tape: tape[lo*width:][:rows*width]})
	}
	return x
}

func (x *dense) forward() {
	lo := 0
	for _, b := range x.blocks {
		k := x.d.In
		n := x.d.Out
		hi := lo + b.Rows
		x.d.Forward(b.Rows, x.m[lo*k:hi*k], x.v[lo*k:hi*k], x.mo[lo*n:hi*n], x.vo[lo*n:hi*n], x.scratch)
		lo = hi
	}
}

// backward is everything a step does for the layer after the forward products:
// packing the operands, the input gradients and the weight gradients.
func (x *dense) backward() {
	lo := 0
	for _, b := range x.blocks {
		k := x.d.In
		n := x.d.Out
		hi := lo + b.Rows
		x.d.RecordInput(b.Tape, b.Rows, x.m[lo*k:hi*k], x.v[lo*k:hi*k])
		x.d.RecordGradient(b.Tape, b.Rows, x.g[lo*n:hi*n], x.h[lo*n:hi*n])
		x.d.Backward(b.Rows, x.m[lo*k:hi*k], x.g[lo*n:hi*n], x.h[lo*n:hi*n], x.dm[lo*k:hi*k], x.dv[lo*k:hi*k], x.scratch)
		lo = hi
	}
	for t := range x.d.GradTiles() {
		x.d.Gradient(t, x.blocks, true, true, x.mean, affine.Gradients[float32]{Mean: x.gw, Var: x.gs}, x.work)
	}
}

func denseForward(b, k, n, windows int, window time.Duration) Kernel {
	return percent(measure(windows, window, 6*float64(b)*float64(k)*float64(n), 1, newDense(b, k, n).forward))
}

func denseBackward(b, k, n, windows int, window time.Duration) Kernel {
	return percent(measure(windows, window, 12*float64(b)*float64(k)*float64(n), 1, newDense(b, k, n).backward))
}
