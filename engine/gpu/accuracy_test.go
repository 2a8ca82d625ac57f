package gpu_test

import (
	"math"
	"testing"

	"utvi/engine"
	"utvi/fn"
	"utvi/gauss"
	"utvi/internal/compute"
	"utvi/moment"
	"utvi/nn"
	"utvi/vi"
)

// Closed forms hold in their tails and for vanishing variances, each result by itself.
func TestClosedForms(t *testing.T) {
	e := card(t)
	var x gauss.Batch[float32]
	for _, v := range []float32{1e-10, 1e-6, 1e-3, 0.1, 0.24, 0.26, 1, 9, 100} {
		for m := float32(-14); m <= 14; m += 0.53 {
			x.Mean, x.Var = append(x.Mean, m), append(x.Var, v)
		}
	}
	x.Rows, x.Width = len(x.Mean), 1
	for _, f := range []*moment.Func{fn.ELU(1), fn.ELU(0.3), fn.GELU(), fn.NormalCDF(), fn.LeakyReLU(0.1)} {
		for _, layer := range []nn.Layer{nn.Apply{F: f, Rule: moment.Exact()}, nn.Residual{Branch: nn.Apply{F: f, Rule: moment.Exact()}}} {
			n := network(t, 1, nn.Chain{layer})
			var out [2]gauss.Batch[float32]
			for i, e := range []engine.Engine[float32]{e, engine.CPU[float32]()} {
				p, err := e.Compile(n, nn.Independent)
				if err != nil {
					t.Fatal(err)
				}
				out[i] = gauss.New[float32](x.Rows, 1)
				p.NewPredictor(compute.NewPool(1), x.Rows).Predict(x, out[i])
			}
			got, want := out[0], out[1]
			for i, m := range x.Mean {
				dm, dv := math.Abs(float64(got.Mean[i]-want.Mean[i])), math.Abs(float64(got.Var[i]-want.Var[i]))
				if !(dm <= 1e-6*math.Abs(float64(want.Mean[i]))+1e-7*math.Sqrt(float64(want.Var[i])) && dv <= 1e-5*float64(want.Var[i])+1e-30) {
					t.Errorf("%s of %s at %v ± √%v: %v ± √%v, on the CPU %v ± √%v", layer.Kind(), f.Name, m, x.Var[i], got.Mean[i], got.Var[i], want.Mean[i], want.Var[i])
				}
			}
		}
	}
}

// The card is as accurate as float32: its largest error against float64 is at most twice
// that of the CPU, in networks with wide layers too.
func TestAccuracy(t *testing.T) {
	e := card(t)
	act := nn.Apply{F: fn.LeakyReLU(0.01), Rule: moment.UT(2)}
	sizes := []int{300, 300, 300}
	if !emulated(e) {
		sizes = []int{64, 512, 1024, 2048}
	}
	var layers nn.Chain
	for _, n := range sizes {
		layers = append(layers, nn.Dense{Out: n}, act)
	}
	layers = append(layers, nn.Dense{Out: 8})
	n := network(t, 40, layers)
	wide := engine.Network[float64]{Input: n.Input, Layers: layers, Params: &vi.Params[float64]{}, Seed: n.Seed}
	if _, err := engine.Bind(wide, &nn.Binder[float64]{}); err != nil {
		t.Fatal(err)
	}
	wide.Params.Alloc()
	compute.Convert(wide.Params.Theta, n.Params.Theta)
	x := rows(256, 40, true) // the largest error of fewer is a gradientOperands of luck
	y := gauss.New[float64](x.Rows, x.Width)
	compute.Convert(y.Mean, x.Mean)
	compute.Convert(y.Var, x.Var)
	want := predictions(t, engine.CPU[float64](), wide, y)
	worst := func(got gauss.Batch[float32]) (mean, variance float64) {
		for i := range got.Mean {
			mean = max(mean, math.Abs(float64(got.Mean[i])-want.Mean[i])/math.Sqrt(want.Var[i]))
			variance = max(variance, math.Abs(float64(got.Var[i])/want.Var[i]-1))
		}
		return mean, variance
	}
	cm, cv := worst(predictions(t, engine.CPU[float32](), n, x))
	gm, gv := worst(predictions[float32](t, e, n, x))
	t.Logf("largest error of means, in standard deviations: CPU %.2e, card %.2e; of variances: %.2e, %.2e", cm, gm, cv, gv)
	if gm > 2*cm || gv > 2*cv {
		t.Errorf("largest error of means: CPU %.2e, card %.2e; of variances: %.2e, %.2e", cm, gm, cv, gv)
	}
}

func predictions[T gauss.Float](t *testing.T, e engine.Engine[T], n engine.Network[T], x gauss.Batch[T]) gauss.Batch[T] {
	t.Helper()
	p, err := e.Compile(n, nn.Independent)
	if err != nil {
		t.Fatal(err)
	}
	out := gauss.New[T](x.Rows, p.Graph().Out.Size())
	p.NewPredictor(compute.NewPool(1), x.Rows).Predict(x, out)
	return out
}
