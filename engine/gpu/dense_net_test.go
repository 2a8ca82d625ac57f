package gpu_test

import (
	"fmt"
	"strings"
	"testing"

	"utvi/engine/gpu"
	"utvi/fn"
	"utvi/moment"
	"utvi/nn"
)

// denseNets are networks that have kernels of their own: with few inputs and many, fixed and
// uncertain, several outputs, a noise, widths beside the sides of tiles, one broad layer
// and several.
func denseNets() []struct {
	name      string
	in, out   int
	uncertain bool
	layers    nn.Chain
} {
	act := func(r moment.Rule) nn.Apply { return nn.Apply{F: fn.LeakyReLU(0.02), Rule: r} }
	three, exact := act(moment.UT(2)), act(moment.Exact())
	return []struct {
		name      string
		in, out   int
		uncertain bool
		layers    nn.Chain
	}{
		{"three points", 1, 1, false, nn.Chain{nn.Dense{Out: 40}, three, nn.Dense{Out: 36}, three, nn.Dense{Out: 1}}},
		{"closed form", 3, 2, true, nn.Chain{nn.Dense{Out: 20}, exact, nn.Dense{Out: 68}, exact, nn.Dense{Out: 24}, exact, nn.Dense{Out: 2}, nn.Noise{}}},
		{"many inputs", 20, 3, false, nn.Chain{nn.Dense{Out: 33 * 4}, three, nn.Dense{Out: 3}, nn.Noise{}}},
		{"uncertain inputs", 24, 1, true, nn.Chain{nn.Dense{Out: 32}, three, nn.Dense{Out: 32}, three, nn.Dense{Out: 1}}},
	}
}

// The kernels of a dense net compute what the kernel fused does, but for rounding: tensor cores
// multiply, and sums have another order.
func TestDenseNets(t *testing.T) {
	e := card(t)
	if !e.HasDenseNets() {
		t.Skip("not run: dense nets have kernels of their own from compute capability 9.0 on")
	}
	for _, c := range denseNets() {
		b, s := someRows(t, 300, c.in, c.out, c.uncertain)
		for _, batch := range []int{5, 137} {
			t.Run(fmt.Sprintf("%s, %d rows", c.name, batch), func(t *testing.T) {
				got := wayOf(t, e, c.in, c.layers, b, s, c.out, batch)
				defer gpu.SetDenseNets(false)()
				want := wayOf(t, e, c.in, c.layers, b, s, c.out, batch)
				if !strings.HasPrefix(got.kernel, "chain_") || want.kernel != "fused" {
					t.Errorf("kernels %s and %s", got.kernel, want.kernel)
				}
				sameWay(t, got, want, 2e-6, 1e-5, 1e-12)
			})
		}
	}
}
