package nn

import (
	"math"
	"runtime"
	"testing"

	"utvi/fn"
	"utvi/gauss"
	"utvi/moment"
	"utvi/rng"
	"utvi/vi"
)

// Every gradient is written by one tile, whoever runs the others at the same time.
func TestGradientTilesAreApart(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, cores := range []int{2, 16} { // which tiles there are depends on it
		runtime.GOMAXPROCS(cores)
		testGradientTiles(t)
	}
}

func testGradientTiles(t *testing.T) {
	act := Apply{F: fn.LeakyReLU(0.01), Rule: moment.UT(2)}
	for name, c := range map[string]struct {
		in     Shape
		layers Chain
	}{
		"one input":    {Vec(1), Chain{Dense{Out: 512}, act, Dense{Out: 320}, act, Dense{Out: 1}}},
		"small":        {Vec(1), Chain{Dense{Out: 128}, act, Dense{Out: 128}, act, Dense{Out: 1}}},
		"two inputs":   {Vec(2), Chain{Dense{Out: 512}, act, Dense{Out: 2}}},
		"wide":         {Vec(300), Chain{Dense{Out: 700}, act, Dense{Out: 3}}},
		"fixed":        {Vec(40), Chain{Dense{Out: 512, Fixed: true}, act, Dense{Out: 3}}},
		"correlated":   {Vec(9), Chain{Correlated{Layers: Chain{Dense{Out: 256}, act, Dense{Out: 2}}}}},
		"convolutions": {Shape{H: 12, W: 12, C: 2}, Chain{Conv2D{Out: 32, Kernel: [2]int{3, 3}}, act, Flatten{}, LayerNorm{}, Dense{Out: 2}}},
	} {
		b := &Binder[float32]{Params: &vi.Params[float32]{}, In: c.in, Form: Fixed, Train: true}
		u, err := Bind(c.layers, b)
		if err != nil {
			t.Fatal(err)
		}
		b.Params.Alloc()
		b.Params.Start(rng.New(1), vi.Std(0.3))
		b.Params.AllocGrads()
		const rows = 7
		r := u.NewRunner(rows, true)
		for tile := range u.PrepareTiles() {
			r.Prepare(tile)
		}
		var blocks []Block[float32]
		for i := range 2 {
			in, out := c.in.Size(), u.Out().Size()
			p := Pass[float32]{In: gauss.Fixed(in, make([]float32, rows*in)), Out: gauss.New[float32](rows, out), DOut: gauss.New[float32](rows, out)}
			for j := range p.In.Mean {
				p.In.Mean[j] = float32(rng.Normal(rng.New(uint64(i)), uint64(j)))
			}
			for j := range p.DOut.Mean {
				p.DOut.Mean[j], p.DOut.Var[j] = 1, 0.5
			}
			p.Tape = make([]float32, rows*u.TapeWidth())
			r.Forward(&p)
			r.Backward(&p)
			blocks = append(blocks, Block[float32]{rows, p.Tape})
		}
		grads := func() (all [][]float32) {
			for _, x := range b.Params.Tensors {
				all = append(all, x.GMean, x.GVar)
			}
			return all
		}
		none := float32(math.NaN())
		var writer [][]int
		for _, g := range grads() {
			writer = append(writer, make([]int, len(g)))
		}
		for tile := range u.GradTiles() {
			for _, g := range grads() {
				for i := range g {
					g[i] = none
				}
			}
			r.Gradient(tile, blocks)
			for k, g := range grads() {
				for i, v := range g {
					if v == v && writer[k][i] > 0 {
						t.Fatalf("%s: tiles %d and %d of %d write the same gradient, %d of tensor %s", name, writer[k][i]-1, tile, u.GradTiles(), i, b.Params.Tensors[k/2].Name)
					}
					if v == v {
						writer[k][i] = tile + 1
					}
				}
			}
		}
		for k := range writer {
			for i, w := range writer[k] {
				if w == 0 {
					t.Fatalf("%s: no tile writes gradient %d of tensor %s", name, i, b.Params.Tensors[k/2].Name)
				}
			}
		}
		t.Logf("%s: %d tiles", name, u.GradTiles())
	}
}
