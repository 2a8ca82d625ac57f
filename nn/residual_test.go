package nn_test

import (
	"fmt"
	"math"
	"testing"

	"utvi/fn"
	"utvi/moment"
	"utvi/nn"
	"utvi/nn/nntest"
)

func TestResidual(t *testing.T) {
	for name, branch := range map[string]nn.Layer{
		"fused ut":     nn.Apply{F: fn.Tanh()},
		"fused chain":  nn.Chain{nn.Apply{F: fn.Sin(), Rule: moment.GaussHermite(5)}},
		"fused exact":  nn.Apply{F: fn.ReLU(), Rule: moment.Exact()},
		"fused linear": nn.Apply{F: fn.Sigmoid(), Rule: moment.Linear()},
		"fused user":   nn.Apply{F: &moment.Func{F: func(x float64) float64 { return x / (1 + x*x) }}},
		"fused learns": nn.Apply{F: fn.Softplus(), Rule: moment.LearnedUT(2)},
		"fused draws":  nn.Apply{F: fn.GELU(), Rule: moment.MonteCarlo(5)},
		"dense":        nn.Chain{nn.Dense{Out: 9}, nn.Apply{F: fn.Tanh()}, nn.Dense{Out: 5}},
		"fixed dense":  nn.Chain{nn.Dense{Out: 9, Fixed: true}, nn.Apply{F: fn.Tanh()}, nn.Dense{Out: 5, Fixed: true}},
		"two applies":  nn.Chain{nn.Apply{F: fn.Tanh()}, nn.Apply{F: fn.Sin(), Rule: moment.MonteCarlo(3)}},
		"bare dense":   nn.Dense{Out: 5},
	} {
		o := nntest.Options{}
		if name == "fused exact" {
			o.Tolerance = 1e-5 // differences across the kink of a fixed input
		}
		t.Run(name, func(t *testing.T) { nntest.Layer(t, nn.Residual{Branch: branch}, nn.Vec(5), o) })
	}
	t.Run("nested", func(t *testing.T) {
		nntest.Layer(t, nn.Chain{
			nn.Dense{Out: 4},
			nn.Residual{Branch: nn.Chain{nn.Residual{Branch: nn.Apply{F: fn.Tanh()}}, nn.Dense{Out: 4}}},
			nn.Dense{Out: 2},
		}, nn.Vec(3), nntest.Options{})
	})
}

// TestResidualMoments: the fused form carries the covariance, the other does not
// and says so.
func TestResidualMoments(t *testing.T) {
	mean, variance := []float64{0.4, -1.1}, []float64{0.5, 2}
	for _, f := range []*moment.Func{fn.Tanh(), fn.ReLU(), fn.Sin()} {
		m, v := sampleRow(mean, variance, 2, func(x []float64, _ float64, y []float64) {
			y[0], y[1] = x[0]+f.F(x[0]), x[1]+f.F(x[1])
		})
		for _, rule := range []moment.Rule{moment.GaussHermite(9), moment.UT(2), moment.Exact()} {
			tol := map[string]float64{"gh(9)": 0.01, "ut(2)": 0.2}[rule.String()]
			if rule.Check(f) != nil {
				continue
			}
			if f.Name == "relu" && rule.String() == "gh(9)" {
				tol = 0.06 // the kink
			}
			l := nn.Residual{Branch: nn.Apply{F: f, Rule: rule}}
			out := pushRow(l, mean, variance)
			for i := range m {
				agrees(t, fmt.Sprint(f.Name, " by ", rule), out.Mean[i], out.Var[i], m[i], v[i], tol)
			}
			if l.AssumesIndependence() {
				t.Error("a fused residual says it assumed independence")
			}
		}
	}
	same := nn.Apply{F: fn.Identity(), Rule: moment.Exact()}
	if out := pushRow(nn.Residual{Branch: same}, mean, variance); math.Abs(out.Var[1]-8) > 1e-12 {
		t.Errorf("fused x + x has variance %v, want 8", out.Var[1])
	}
	loose := nn.Residual{Branch: nn.Chain{same, same}}
	if out := pushRow(loose, mean, variance); out.Var[1] != 4 || !loose.AssumesIndependence() {
		t.Errorf("unfused x + x has variance %v, want 4 and a word about it", out.Var[1])
	}
	// Of a fixed row the branch is independent indeed.
	out := pushRow(nn.Residual{Branch: nn.Chain{nn.Noise{Start: 0.5}}}, mean, nil)
	if math.Abs(out.Var[0]-0.25) > 1e-12 || out.Mean[1] != -2.2 {
		t.Errorf("a fixed row with a noisy branch has moments %v", out)
	}
}

// skips are residuals with a layer on both roads.
func skips() map[string]nn.Residual {
	tanh := nn.Apply{F: fn.Tanh(), Rule: moment.GaussHermite(5)}
	return map[string]nn.Residual{
		"dense":        {Branch: nn.Chain{nn.Dense{Out: 6}, tanh, nn.Dense{Out: 4}}, Skip: nn.Dense{Out: 4, NoBias: true}},
		"fixed skip":   {Branch: nn.Chain{nn.Dense{Out: 6}, tanh, nn.Dense{Out: 4}}, Skip: nn.Dense{Out: 4, Fixed: true}},
		"fixed branch": {Branch: nn.Dense{Out: 4, Fixed: true}, Skip: nn.Chain{nn.Dense{Out: 4}, tanh}},
		"fixed":        {Branch: nn.Dense{Out: 4, Fixed: true}, Skip: nn.Dense{Out: 4, Fixed: true}},
		"elementwise":  {Branch: tanh, Skip: nn.Scale{Start: 2}},
		"nested": {Branch: nn.Chain{nn.Dense{Out: 3}, nn.Residual{Branch: nn.Dense{Out: 4}, Skip: nn.Chain{tanh, nn.Dense{Out: 4}}}},
			Skip: nn.Residual{Branch: nn.Dense{Out: 4}, Skip: nn.Dense{Out: 4}}},
	}
}

func TestResidualSkip(t *testing.T) {
	for name, l := range skips() {
		t.Run(name, func(t *testing.T) { nntest.Layer(t, l, nn.Vec(5), nntest.Options{}) })
		t.Run(name+" correlated", func(t *testing.T) {
			nntest.Layer(t, correlated(nn.Dense{Out: 5}, l, nn.Apply{F: fn.Sin(), Rule: moment.GaussHermite(5)}, nn.Dense{Out: 2}), nn.Vec(3), nntest.Options{})
			nntest.Layer(t, correlated(l, nn.Dense{Out: 1}), nn.Vec(5), nntest.Options{})
		})
	}
	t.Run("image", func(t *testing.T) {
		conv := nn.Conv2D{Out: 3, Kernel: [2]int{3, 3}, Stride: 2, Padding: nn.Same}
		block := nn.Residual{Branch: nn.Chain{conv, nn.Apply{F: fn.ReLU()}, nn.Conv2D{Out: 3, Kernel: [2]int{3, 3}, Padding: nn.Same}},
			Skip: nn.Chain{nn.Conv2D{Out: 3, Kernel: [2]int{1, 1}, Stride: 2, NoBias: true}, nn.BatchNorm{Mean: []float64{0, 1, 2}, Var: []float64{1, 2, 3}}}}
		nntest.Layer(t, nn.Chain{block, nn.Dense{Out: 2}}, nn.Shape{H: 5, W: 4, C: 2}, nntest.Options{Entries: 10})
		nntest.Layer(t, correlated(block, nn.Dense{Out: 2}), nn.Shape{H: 5, W: 4, C: 2}, nntest.Options{Entries: 10})
	})
}

// Both roads start at one x. Inside Correlated its share in both is kept, as drawn
// networks have it; independent roads lose it.
func TestResidualSkipAgainstDrawn(t *testing.T) {
	tanh := nn.Apply{F: fn.Tanh(), Rule: moment.GaussHermite(9)}
	mean, variance := waves(4, 0.2)
	beatsIndependence(t, nn.Chain{nn.Residual{Branch: nn.Chain{nn.Dense{Out: 6}, tanh, nn.Dense{Out: 4}}, Skip: nn.Dense{Out: 4}}, nn.Dense{Out: 2}}, nn.Vec(4), 0.05, 0.05, mean, variance)
	beatsIndependence(t, nn.Chain{nn.Dense{Out: 5}, nn.Residual{Branch: nn.Chain{tanh, nn.Dense{Out: 4}}, Skip: nn.Dense{Out: 4, Fixed: true}}, nn.Dense{Out: 2}}, nn.Vec(4), 0.1, 0.05, mean, variance)
	// On fixed inputs two roads are independent indeed.
	d := newDrawing(t, nn.Residual{Branch: nn.Chain{nn.Dense{Out: 3}}, Skip: nn.Dense{Out: 3}}, nn.Vec(4), 0.3)
	_, want := d.moments(mean, nil, 20_000)
	if e := worstStd(d.propagate(t, d.layer, mean, nil).Var, want); math.Abs(e) > 0.02 {
		t.Errorf("on fixed inputs σ is off by %.3g", e)
	}
	// The same function on both roads: 4v, not 2v.
	twice := nn.Residual{Branch: nn.Multiply{By: []float64{1, 1}}, Skip: nn.Multiply{By: []float64{1, 1}}}
	if out := pushRow(twice, []float64{1, 2}, []float64{1, 2}); out.Var[1] != 4 || !twice.AssumesIndependence() {
		t.Errorf("x + x on two roads has the variance %v, want 4 and a word about it", out.Var[1])
	}
	if out := pushRow(correlated(twice), []float64{1, 2}, []float64{1, 2}); out.Var[1] != 8 {
		t.Errorf("x + x on two roads has the variance %v with correlations, want 8", out.Var[1])
	}
}

func TestResidualRefuses(t *testing.T) {
	nntest.Refuses(t, nn.Residual{Branch: nn.Dense{Out: 3}, Skip: nn.Dense{Out: 2}}, nn.Vec(5),
		"the branch turns 5 into 3, and the skip into 2; both must have outputs of one shape")
	nntest.Refuses(t, nn.Residual{Branch: nn.Dense{Out: 3}, Skip: nn.Dense{}}, nn.Vec(5), "skip: 0 outputs; a dense layer needs at least 1")
	nntest.Refuses(t, nn.Residual{Skip: nn.Dense{Out: 3}}, nn.Vec(2), "no branch; set nn.Residual.Branch")
	nntest.Refuses(t, correlated(nn.Dense{Out: 3}, nn.Residual{Branch: nn.Dense{Out: 3}, Skip: nn.Joint{Map: fn.Softmax()}}), nn.Vec(3),
		"layer layer.1.residual (input 3): the skip cannot carry correlations")
	nntest.Refuses(t, nn.Residual{}, nn.Vec(2), "no branch; set nn.Residual.Branch")
	nntest.Refuses(t, nn.Residual{Branch: nn.Apply{}}, nn.Vec(2), "no function F; set nn.Apply.F")
	nntest.Refuses(t, nn.Residual{Branch: nn.Dense{Out: 3}}, nn.Vec(5),
		"the branch turns 5 into 3; its output must have the shape of its input")
	nntest.Refuses(t, nn.Residual{Branch: nn.Chain{nn.Dense{Out: 3}, nn.Dense{}}}, nn.Vec(3),
		"branch: layer layer.1.dense (input 3): 0 outputs; a dense layer needs at least 1")
	nntest.Refuses(t, nn.Residual{Branch: nn.Apply{F: fn.Tanh(), Rule: moment.Exact()}}, nn.Vec(1),
		"exact: no closed form is known for residual(tanh); use ut or gh")
}

func ExampleResidual() {
	fused := nn.Residual{Branch: nn.Apply{F: fn.Identity()}}
	out := pushRow(fused, []float64{1}, []float64{3})
	fmt.Printf("%.1f %.1f %v\n", out.Mean[0], out.Var[0], fused.AssumesIndependence())
	// Output: 2.0 12.0 false
}
