package gpu_test

import (
	"fmt"
	"math"
	"testing"

	"utvi/engine"
	"utvi/engine/gpu"
	"utvi/fn"
	"utvi/internal/compute"
	"utvi/likelihood"
	"utvi/moment"
	"utvi/nn"
	"utvi/optim"
	"utvi/rng"
)

// The update of one of many networks is that of a network alone, but for rounding: with
// spreads of all sizes, priors that are moved, gradients that are clipped, and more small
// pieces than there are warps.
func TestManyDenseUpdate(t *testing.T) {
	e := card(t)
	if !e.HasManyDense() {
		t.Skip("not run: many dense nets have kernels of their own on Hopper's cards")
	}
	act := nn.Apply{F: fn.LeakyReLU(0.01), Rule: moment.UT(2)}
	for _, c := range []struct{ in, first, second, out int }{{3, 96, 32, 1}, {16, 128, 128, 1}} {
		t.Run(fmt.Sprintf("%d-%d-%d-%d", c.in, c.first, c.second, c.out), func(t *testing.T) {
			_, s := someRows(t, 24, c.in, c.out, false)
			n := network(t, c.in, nn.Chain{nn.Dense{Out: c.first}, act, nn.Dense{Out: c.second}, act, nn.Dense{Out: c.out}, nn.Noise{}})
			for i, x := range n.Params.Tensors {
				x.Prior.Mean, x.Prior.Std = 0.05*float64(i), 0.3+0.2*float64(i)
				for j := range x.Rho {
					x.Rho[j] = float32(-9 + 11*rng.Uniform(rng.New(uint64(i)), uint64(j)))
				}
				for j := 0; x.Random && i%2 == 0 && j < x.Len(); j++ {
					x.Center = append(x.Center, float32(0.1*rng.Normal(rng.New(30), uint64(j))))
				}
			}
			o := optim.Paper()
			o.Clip, o.DecayOn = 1, optim.DecayAll
			var after [2]engine.State
			var changes [2][]engine.Change
			for way, beside := range []int{0, gpu.ManyFrom} {
				tr, err := e.Train(clone(n), engine.Job{Data: s, Likelihood: likelihood.Normal{}, Optimizer: o, Batch: 24, Seed: rng.New(9), Pool: compute.NewPool(1), Beside: beside})
				if err != nil {
					t.Fatal(err)
				}
				for step := 1; step <= 3; step++ {
					tr.Gradient(step)
					changes[way] = append(changes[way], tr.Update(engine.Update{Step: step, Rate: 1e-3, KL: 0.02}))
				}
				if err := tr.Sync(); err != nil {
					t.Fatal(err)
				}
				after[way] = tr.State()
				tr.(interface{ Close() error }).Close()
			}
			for i, a := range changes[0] {
				b := changes[1][i]
				if !(math.Abs(b.KL/a.KL-1) < 1e-6 && math.Abs(b.GradNorm/a.GradNorm-1) < 1e-5 && a.Finite && b.Finite) {
					t.Errorf("step %d: alone %+v, of many %+v", i+1, a, b)
				}
			}
			if a := changes[0][0].GradNorm; a < o.Clip {
				t.Errorf("the norm %v is not clipped", a)
			}
			for i, x := range after[0].Params.Tensors {
				first := after[0].First.Tensors[i]
				second := after[0].Second.Tensors[i]
				other := after[1].First.Tensors[i]
				if a, b := off(other.Mean, first.Mean), off(after[1].Second.Tensors[i].Mean, second.Mean); !(a < 1e-5 && b < 2e-5) {
					t.Errorf("moments of the means of tensor %d are off by %.1e and %.1e", i, a, b)
				}
				if a, b := off(other.Rho, first.Rho), off(after[1].Second.Tensors[i].Rho, second.Rho); x.Random && !(a < 1e-5 && b < 2e-5) {
					t.Errorf("moments of the ρ of tensor %d are off by %.1e and %.1e", i, a, b)
				}
			}
			far := 0 // parameters whose steps differ by more than a hundredth of the rate
			for i, a := range after[0].Params.Theta {
				if math.Abs(float64(a-after[1].Params.Theta[i])) > 1e-5 {
					far++
				}
			}
			if n := len(after[0].Params.Theta); far*1000 > n {
				t.Errorf("%d of %d parameters differ by more than a hundredth of the rate", far, n)
			}
		})
	}
}
