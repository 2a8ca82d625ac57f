package model

import (
	"math"
	"strings"
	"testing"

	"utvi/fn"
	"utvi/gauss"
	"utvi/nn"
	"utvi/rng"
)

// norm is a normalisation of n channels that are all different.
func norm(n int) nn.BatchNorm {
	var l nn.BatchNorm
	for i := range n {
		x := float64(i + 1)
		l.Mean, l.Var = append(l.Mean, 0.1*x), append(l.Var, 0.5+x*x)
		l.Gain, l.Offset = append(l.Gain, 2-0.3*x), append(l.Offset, 0.2*x-1)
	}
	return l
}

// A network whose normalisations have become part of their neighbours predicts the same.
func TestAroundFolds(t *testing.T) {
	relu := nn.Apply{F: fn.ReLU()}
	for name, c := range map[string]struct {
		layers nn.Chain
		left   int // normalisations
	}{
		"behind a dense layer":     {nn.Chain{nn.Dense{Out: 3, Fixed: true}, norm(3), relu, nn.Dense{Out: 2, Fixed: true}}, 0},
		"no bias":                  {nn.Chain{nn.Dense{Out: 3, Fixed: true, NoBias: true}, norm(3)}, 0},
		"behind a convolution":     {nn.Chain{nn.Conv2D{Out: 3, Kernel: [2]int{2, 2}, Padding: nn.Same, Fixed: true}, norm(3), relu, nn.Flatten{}, nn.Dense{Out: 2, Fixed: true}}, 0},
		"before a dense layer":     {nn.Chain{nn.Conv2D{Out: 3, Kernel: [2]int{2, 2}, Fixed: true}, relu, norm(3), nn.Flatten{}, nn.Dense{Out: 2, Fixed: true}}, 0},
		"two":                      {nn.Chain{nn.Dense{Out: 3, Fixed: true}, norm(3), norm(3), relu, norm(3), nn.Dense{Out: 2, Fixed: true, NoBias: true}}, 0},
		"on a road of a residual":  {nn.Chain{nn.Residual{Branch: nn.Chain{nn.Conv2D{Out: 2, Kernel: [2]int{3, 3}, Padding: nn.Same, Fixed: true}, norm(2), relu}}, nn.Dense{Out: 2, Fixed: true}}, 0},
		"before a convolution":     {nn.Chain{norm(2), nn.Conv2D{Out: 3, Kernel: [2]int{3, 3}, Padding: nn.Same, Fixed: true}}, 1},
		"learned":                  {nn.Chain{nn.Dense{Out: 3, Fixed: true}, nn.BatchNorm{}, relu, nn.BatchNorm{}, relu, nn.Dense{Out: 2, Fixed: true}}, 1},
		"between two functions":    {nn.Chain{nn.Dense{Out: 3, Fixed: true}, relu, norm(3), relu, nn.Dense{Out: 2, Fixed: true}}, 1},
		"the only layer of a road": {nn.Chain{nn.Residual{Branch: nn.Chain{norm(2)}}, nn.Dense{Out: 2, Fixed: true}}, 1},
	} {
		n, err := Build[float64](Config{Input: nn.Shape{H: 4, W: 4, C: 2}, Layers: c.layers, Seed: 4})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, p := range n.Params.Tensors {
			for i := range p.Mean {
				if p.Running {
					p.Mean[i] = 0.5 + float64(i)
				}
			}
		}
		n.Changed()
		around, err := n.Around(Around{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		left := 0
		for x := range around.Graph().All() {
			if _, ok := x.Layer.(nn.BatchNorm); ok {
				left++
			}
		}
		if left != c.left {
			t.Errorf("%s: %d normalisations are left, want %d", name, left, c.left)
		}
		x := gauss.New[float64](3, 32)
		x.Var = nil
		for i := range x.Mean {
			x.Mean[i] = rng.Normal(rng.New(5), uint64(i))
		}
		for _, p := range around.Params.Tensors { // leave the Normals no width: functions of them move their means
			for i := range p.Rho {
				p.Rho[i] = -40
			}
		}
		around.Changed()
		want, got := n.NewPredictor(3).Predict(x).Mean, around.NewPredictor(3).Predict(x).Mean
		for i := range want {
			if math.Abs(got[i]-want[i]) > 1e-9 {
				t.Errorf("%s: output %d is %v, was %v", name, i, got[i], want[i])
				break
			}
		}
	}
}

// Priors have the size of the weights; biases of about zero that of the weights beside them, but
// not more than new ones.
func TestAroundPriors(t *testing.T) {
	n, err := New(Config{Input: nn.Vec(4), Layers: nn.Chain{nn.Dense{Out: 2, Fixed: true}, nn.Dense{Out: 1, Fixed: true}}})
	if err != nil {
		t.Fatal(err)
	}
	set := func(i int, x ...float32) { copy(n.Params.Tensors[i].Mean, x) }
	set(0, 0.1, -0.1, 0.1, -0.1, 0.1, -0.1, 0.1, -0.1)
	set(1, 1e-9, 0)
	set(2, 0, 0)
	set(3, 5)
	n.Changed()
	a, err := n.Around(Around{Scale: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{0.05, 0.05, 0.5e-3 / math.Sqrt2, 2.5} {
		if got := a.Params.Tensors[i].Prior.Std; math.Abs(got/want-1) > 1e-6 {
			t.Errorf("the prior of tensor %d is %v wide, want %v", i, got, want)
		}
	}
	set(0, 1000, 1000)
	n.Changed()
	a, err = n.Around(Around{Scale: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	if got := a.Params.Tensors[1].Prior.Std; math.Abs(got-0.25) > 1e-6 {
		t.Errorf("beside huge weights the prior of biases is %v wide, want 0.25", got)
	}
	if _, err := n.Around(Around{Scale: -1}); err == nil || !strings.Contains(err.Error(), "must be a number > 0") {
		t.Errorf("a scale below 0: %v", err)
	}
}
