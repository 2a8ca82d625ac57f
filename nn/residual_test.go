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

func TestResidualRefuses(t *testing.T) {
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
