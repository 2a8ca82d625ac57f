package gpu_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"utvi/engine/gpu"
	"utvi/fn"
	"utvi/internal/localization"
	"utvi/moment"
	"utvi/nn"
)

// convNets are networks whose broad layer four blocks share: the paper's, with other widths,
// images with borders and several channels, and every kind of layer behind the last one.
func convNets() map[string]struct {
	in, out int
	layers  nn.Chain
} {
	act := func(r moment.Rule) nn.Apply { return nn.Apply{F: fn.LeakyReLU(0.01), Rule: r} }
	three := act(moment.UT(2))
	exact := act(moment.Exact())
	hermite := act(moment.GaussHermite(5))
	drawn := act(moment.MonteCarlo(6))
	photons := nn.Conditional{Target: 2, Given: []int{0, 1}, Location: localization.PhotonNode(100, 1.05, 8)}
	padded := nn.Conv2D{Out: 4, Kernel: [2]int{2, 3}, Stride: 2, Pad: [4]int{1, 2, 1, 0}}
	type network = struct {
		in, out int
		layers  nn.Chain
	}
	return map[string]network{
		"the paper's": {64, 3, nn.Chain{nn.Conv2D{Out: 8, Kernel: [2]int{3, 3}}, three, nn.Dense{Out: 128}, three, nn.Dense{Out: 3}, nn.Scale{},
			nn.Apply{F: fn.NormalInverse(), Rule: moment.UT(2)}, nn.Multiply{By: []float64{2, 2, 1}}, photons}},
		"plain":       {50, 1, nn.Chain{padded, exact, nn.Dense{Out: 64}, exact, nn.Dense{Out: 1}}},
		"many points": {64, 4, nn.Chain{nn.Conv2D{Out: 4, Kernel: [2]int{3, 3}}, hermite, nn.Dense{Out: 32}, exact, nn.Dense{Out: 4}, nn.Apply{F: fn.Tanh(), Rule: moment.GaussHermite(32)}, nn.Multiply{By: []float64{2, 2, 1, 3}}, photons, nn.Noise{}}},
		"draws":       {64, 5, nn.Chain{nn.Conv2D{Out: 4, Kernel: [2]int{3, 3}}, drawn, nn.Dense{Out: 32}, three, nn.Dense{Out: 5}, nn.Apply{F: fn.Sigmoid(), Rule: moment.MonteCarlo(7)}, nn.Scale{}}},
	}
}

// The kernels of a conv net compute what the kernel fused does, but for rounding; clusters of
// two blocks have the bits of clusters of four.
func TestConvNets(t *testing.T) {
	e := card(t)
	if !e.HasConvNets() {
		t.Skip("not run: conv nets have kernels of their own from compute capability 9.0 on")
	}
	for name, c := range convNets() {
		b, s := someRows(t, 61, c.in, c.out, false)
		for _, batch := range []int{5, 43} {
			t.Run(fmt.Sprintf("%s, %d rows", name, batch), func(t *testing.T) {
				got := wayOf(t, e, c.in, c.layers, b, s, c.out, batch)
				defer gpu.SetPairs(false)()
				if four := wayOf(t, e, c.in, c.layers, b, s, c.out, batch); !reflect.DeepEqual(got, four) {
					t.Error("clusters of four blocks have other bits than clusters of two")
				}
				defer gpu.SetConvNets(false)()
				want := wayOf(t, e, c.in, c.layers, b, s, c.out, batch)
				if !strings.HasPrefix(got.kernel, "quartet_") || !strings.HasPrefix(want.kernel, "fused") {
					t.Errorf("kernels %s and %s", got.kernel, want.kernel)
				}
				sameWay(t, got, want, 5e-6, 1e-6, 1e-12)
			})
		}
	}
}
