package model_test

import (
	"context"
	"math"
	"reflect"
	"strings"
	"testing"

	"utvi/fn"
	"utvi/model"
	"utvi/moment"
	"utvi/nn"
)

func verify(t *testing.T, m *model.Model, rows int, c model.VerifyConfig) *model.Verification {
	t.Helper()
	x := batch(rows, m.Inputs())
	x.Var = nil
	v, err := m.Verify(context.Background(), x, c)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Where propagation is exact, drawn networks agree layer by layer within five
// standard errors (σ: with room for kurtosis).
func TestVerifyAnExactNetwork(t *testing.T) {
	m := build(t, 3, nn.Dense{Out: 6}, nn.Chain{nn.Apply{F: fn.LeakyReLU(0.1), Rule: moment.Exact()}, nn.Dense{Out: 2}}, nn.Noise{Start: 0.4}, nn.Scale{Start: 3})
	v := verify(t, m, 4, model.VerifyConfig{Networks: 4000, Seed: 5})
	if len(v.Layers) != 5 || v.Layers[1].Name != "1.chain.0.apply" || v.Layers[4].Kind != "scale" {
		t.Fatalf("%+v", v.Layers)
	}
	for _, l := range v.Layers {
		if math.Abs(l.Mean.Worst) > 5*v.MeanError || math.Abs(l.Std.Worst) > 8*v.StdError || l.Compared == 0 || l.Constant > 0 || l.AssumesIndependence {
			t.Errorf("%+v", l)
		}
		if l.Mean.Median > math.Abs(l.Mean.Worst) || l.Mean.Median == 0 || l.Std.Median == 0 {
			t.Errorf("%+v", l)
		}
	}
}

// Where it is not, the layer and the unit are named: a residual whose branch
// doubles its input has four times the variance, and propagation says twice.
func TestVerifyFindsWhatIsWrong(t *testing.T) {
	m := build(t, 1, nn.Dense{Out: 3}, nn.Residual{Branch: nn.Dense{Out: 3, Fixed: true, NoBias: true}}, nn.Apply{F: fn.Identity()})
	w := m.Params.Tensors[2]
	if w.Name != "1.residual.0.dense.weight" && !strings.HasPrefix(w.Name, "1.residual") {
		t.Fatal(w.Name)
	}
	clear(w.Mean)
	w.Mean[8] = 1 // unit 2 passes, the others give nothing
	m.Changed()
	v := verify(t, m, 2, model.VerifyConfig{Networks: 2000})
	l := v.Layers[2] // after its branch
	if want := 1/math.Sqrt2 - 1; math.Abs(l.Std.Worst-want) > 0.04 || l.Std.Unit != 2 || !l.AssumesIndependence {
		t.Errorf("%+v, want %.3f in unit 2", l, want)
	}
	if l := v.Layers[0]; l.AssumesIndependence || math.Abs(l.Std.Worst) > 0.1 {
		t.Errorf("%+v", l)
	}
}

// Inputs with variance are drawn, too.
func TestVerifyDrawsInputs(t *testing.T) {
	m := build(t, 3, nn.Dense{Out: 2})
	v, err := m.Verify(context.Background(), batch(3, 3), model.VerifyConfig{Networks: 4000})
	if err != nil {
		t.Fatal(err)
	}
	if l := v.Layers[0]; math.Abs(l.Mean.Worst) > 5*v.MeanError || math.Abs(l.Std.Worst) > 8*v.StdError {
		t.Errorf("%+v", l)
	}
}

// The result depends on the seed, not on the workers.
func TestVerifyIsReproducible(t *testing.T) {
	m := network(t, moment.MonteCarlo(5))
	one := verify(t, m, 2, model.VerifyConfig{Networks: 300, Workers: 1})
	if three := verify(t, m, 2, model.VerifyConfig{Networks: 300, Workers: 3}); !reflect.DeepEqual(one, three) {
		t.Errorf("%+v\n%+v", one, three)
	}
	if other := verify(t, m, 2, model.VerifyConfig{Networks: 300, Seed: 1}); reflect.DeepEqual(one, other) {
		t.Error("another seed draws the same networks")
	}
}

func TestVerifyRefuses(t *testing.T) {
	m := build(t, 3, nn.Dense{Out: 2})
	for want, f := range map[string]func() error{
		"1 networks; a variance needs at least 2": func() error {
			_, err := m.Verify(context.Background(), batch(1, 3), model.VerifyConfig{Networks: 1})
			return err
		},
		"there are no inputs": func() error {
			_, err := m.Verify(context.Background(), batch(0, 3), model.VerifyConfig{})
			return err
		},
		"the rows have 2 inputs, the network 3": func() error {
			_, err := m.Verify(context.Background(), batch(1, 2), model.VerifyConfig{})
			return err
		},
		"context canceled": func() error {
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			_, err := m.Verify(ctx, batch(1, 3), model.VerifyConfig{})
			return err
		},
		"the output of layer 0.dense is not finite": func() error {
			x := batch(1, 3)
			x.Mean[1] = float32(math.Inf(1))
			_, err := m.Verify(context.Background(), x, model.VerifyConfig{Networks: 2})
			return err
		},
	} {
		wantError(t, f(), want)
	}
}

func TestInspect(t *testing.T) {
	m := varied(t)
	s := m.Inspect()
	if len(s.Layers) != 8 || s.Layers[0].Weights != 2*3*2*3+3 || s.Layers[6].Name != "5.chain.1.apply" {
		t.Errorf("%+v", s.Layers)
	}
	if got := s.Layers[4].Options; got != "user_f=sensor rule=learned-ut(1.5)" {
		t.Error(got)
	}
	if s.Weights != m.Inspect().Weights || s.Weights-s.Random != 6*4+4+1+4 || s.KL != m.Params.KL() {
		t.Errorf("%d weights, %d random", s.Weights, s.Random)
	}
	tensor := m.Params.Tensors[1] // three biases, all σ = 0.1
	copy(tensor.Mean, []float32{0.05, -0.4, 0.2})
	got := m.Inspect().Tensors[1]
	for i, want := range [5]float64{0.5, 1.25, 2, 3, 4} {
		if math.Abs(got.SNR[i]-want) > 1e-5 {
			t.Errorf("quartiles %v", *got.SNR)
		}
	}
	if math.Abs(got.Below1-1.0/3) > 1e-9 || got.KL != tensor.KL() {
		t.Errorf("%+v", got)
	}
}
