package gpu_test

import (
	"fmt"
	"slices"
	"testing"

	"utvi/engine/gpu"
	"utvi/fn"
	"utvi/moment"
	"utvi/nn"
)

// The kernels of a dense net beside others compute what those of a dense net alone do, but for rounding:
// they multiply halves of numbers.
func TestManyDense(t *testing.T) {
	e := card(t)
	if !e.HasManyDense() {
		t.Skip("not run: only Hopper's cards have kernels of dense nets beside many others")
	}
	act := func(a float64, r moment.Rule) nn.Apply { return nn.Apply{F: fn.LeakyReLU(a), Rule: r} }
	for _, c := range []struct {
		name      string
		in        int
		uncertain bool
		layers    nn.Chain
	}{
		{"three points", 1, false, nn.Chain{nn.Dense{Out: 128}, act(0.02, moment.UT(2)), nn.Dense{Out: 128}, act(0.02, moment.UT(2)), nn.Dense{Out: 1}, nn.Noise{}}},
		{"closed form of one input", 1, false, nn.Chain{nn.Dense{Out: 32}, act(0.02, moment.Exact()), nn.Dense{Out: 64}, act(0.02, moment.Exact()), nn.Dense{Out: 1}}},
		{"one uncertain input", 1, true, nn.Chain{nn.Dense{Out: 128}, act(0.02, moment.UT(2)), nn.Dense{Out: 64}, act(0.02, moment.UT(2)), nn.Dense{Out: 1}}},
		{"other slopes", 2, true, nn.Chain{nn.Dense{Out: 32}, act(-0.5, moment.UT(0.5)), nn.Dense{Out: 96}, act(0.9, moment.UT(2)), nn.Dense{Out: 1}}},
		{"closed form", 3, true, nn.Chain{nn.Dense{Out: 64}, act(0.02, moment.Exact()), nn.Dense{Out: 32}, act(0.02, moment.Exact()), nn.Dense{Out: 1}, nn.Noise{}}},
	} {
		b, s := someRows(t, 300, c.in, 1, c.uncertain)
		for _, batch := range []int{5, 137} {
			t.Run(fmt.Sprintf("%s, %d rows", c.name, batch), func(t *testing.T) {
				want := wayOf(t, e, c.in, c.layers, b, s, 1, batch)
				got := wayOf(t, e, c.in, c.layers, b, s, 1, batch, gpu.ManyFrom)
				sameWay(t, got, want, 2e-6, 1e-5, 1e-8)
			})
		}
	}
}

// One input without variance has kernels of its own, with the bits of those that take a variance, if it is zero.
func TestManyDenseOfOneInput(t *testing.T) {
	e := card(t)
	if !e.HasManyDense() {
		t.Skip("not run: only Hopper's cards have kernels of dense nets beside many others")
	}
	certain, z := someRows(t, 200, 1, 1, true) // with the rows and targets of the others
	clear(certain.Var)
	fixed, s := someRows(t, 200, 1, 1, false)
	for name, r := range map[string]moment.Rule{"crowd_three": moment.UT(2), "crowd_exact": moment.Exact()} {
		act := nn.Apply{F: fn.LeakyReLU(0.01), Rule: r}
		layers := nn.Chain{nn.Dense{Out: 96}, act, nn.Dense{Out: 128}, act, nn.Dense{Out: 1}, nn.Noise{}}
		one := wayOf(t, e, 1, layers, fixed, s, 1, 200, gpu.ManyFrom)
		any := wayOf(t, e, 1, layers, certain, z, 1, 200, gpu.ManyFrom)
		if one.kernel != name+"_one" || any.kernel != name {
			t.Fatalf("the kernels are %s and %s", one.kernel, any.kernel)
		}
		if one.score != any.score || one.change != any.change || !slices.Equal(one.theta, any.theta) {
			t.Errorf("%s: %v, %v and %v, %v", name, one.score, one.change, any.score, any.change)
		}
	}
}
