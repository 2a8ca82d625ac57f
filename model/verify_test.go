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
// standard errors.
func TestVerifyAnExactNetwork(t *testing.T) {
	m := build(t, 3, nn.Dense{Out: 6}, nn.Chain{nn.Apply{F: fn.LeakyReLU(0.1), Rule: moment.Exact()}, nn.Dense{Out: 2}}, nn.Noise{Start: 0.4}, nn.Scale{Start: 3})
	v := verify(t, m, 4, model.VerifyConfig{Networks: 4000, Seed: 5})
	if len(v.Layers) != 5 || v.Layers[1].Name != "1.chain.0.apply" || v.Layers[4].Kind != "scale" {
		t.Fatalf("%+v", v.Layers)
	}
	for _, l := range v.Layers {
		if math.Abs(l.Mean.Worst) > 5*v.MeanError || math.Abs(l.Std.Worst) > 5*l.StdError || l.Compared == 0 || l.Constant > 0 || l.AssumesIndependence {
			t.Errorf("%+v", l)
		}
		if l.Mean.Median > math.Abs(l.Mean.Worst) || l.Mean.Median == 0 || l.Std.Median == 0 {
			t.Errorf("%+v", l)
		}
	}
}

// A unit that no drawn network switches on does not vary, however small the propagated
// mean is: rounding is no standard deviation to compare with.
func TestVerifySilentUnits(t *testing.T) {
	m := build(t, 1, nn.Dense{Out: 4}, nn.Apply{F: fn.ReLU(), Rule: moment.Exact()})
	for _, p := range m.Params.Tensors {
		for i := range p.Mean {
			p.Rho[i] = -3
			if len(p.Shape) == 1 {
				p.Mean[i] = float32(-i) / 3 // the last ones are far below zero
			} else {
				p.Mean[i] = 0
			}
		}
	}
	m.Changed()
	l := verify(t, m, 8, model.VerifyConfig{Networks: 3000}).Layers[1]
	if math.Abs(l.Mean.Worst) > 10 || math.Abs(l.Std.Worst) > 10 || l.Constant == 0 || l.Compared == 0 {
		t.Errorf("%+v", l)
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
	if l := v.Layers[0]; math.Abs(l.Mean.Worst) > 5*v.MeanError || math.Abs(l.Std.Worst) > 5*l.StdError {
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

// Layers that take correlated units as independent are marked, and no others.
func TestVerifyMarks(t *testing.T) {
	act, exact := nn.Apply{F: fn.Tanh(), Rule: moment.GaussHermite(5)}, nn.Apply{F: fn.LeakyReLU(0.1), Rule: moment.Exact()}
	image, window := nn.Shape{H: 4, W: 4, C: 1}, [2]int{2, 2}
	for _, c := range []struct {
		name   string
		in     nn.Shape
		random bool // the inputs
		layers nn.Chain
		want   string // the marked layers
	}{
		{"one hidden layer", nn.Vec(2), false, nn.Chain{nn.Dense{Out: 3}, act, nn.Dense{Out: 2}}, ""},
		{"two", nn.Vec(2), false, nn.Chain{nn.Dense{Out: 3}, act, nn.Dense{Out: 3}, act, nn.Dense{Out: 2}}, "4.dense"},
		{"uncertain inputs", nn.Vec(2), true, nn.Chain{nn.Dense{Out: 3}, act, nn.Dense{Out: 2}}, "2.dense"},
		{"fixed weights", nn.Vec(2), false, nn.Chain{nn.Dense{Out: 3, Fixed: true}, nn.Dense{Out: 3}, nn.Dense{Out: 2}}, ""},
		{"a single unit", nn.Vec(2), true, nn.Chain{nn.Dense{Out: 1}, nn.Dense{Out: 2}}, ""},
		{"average pooling", image, false, nn.Chain{nn.Conv2D{Out: 2, Kernel: window}, exact, nn.AvgPool2D{Size: window}, nn.Dense{Out: 1}}, "2.avgpool2d 3.dense"},
		{"maximum pooling", image, false, nn.Chain{nn.Conv2D{Out: 2, Kernel: window}, nn.MaxPool2D{Size: window}}, "1.maxpool2d"},
		{"pooling of inputs", image, true, nn.Chain{nn.AvgPool2D{Size: window}, nn.MaxPool2D{Size: window}, nn.AvgPool2D{Size: [2]int{1, 1}}}, ""},
		{"residual", nn.Vec(3), false, nn.Chain{nn.Residual{Branch: nn.Dense{Out: 3}}, nn.Residual{Branch: nn.Dense{Out: 3}}, nn.Residual{Branch: act}}, "1.residual"},
		{"correlated", nn.Vec(2), false, nn.Chain{nn.Correlated{Layers: nn.Chain{nn.Dense{Out: 3}, act, nn.Dense{Out: 3}, act, nn.Dense{Out: 2}}}, nn.Scale{}}, ""},
		{"behind correlated", nn.Vec(2), false, nn.Chain{nn.Correlated{Layers: nn.Chain{nn.Dense{Out: 3}, act, nn.Dense{Out: 3}}}, nn.Dense{Out: 2}}, "1.dense"},
		{"normalised", nn.Vec(2), false, nn.Chain{nn.Dense{Out: 3}, nn.LayerNorm{}, nn.Dense{Out: 2}}, "2.dense"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := model.New(model.Config{Input: c.in, Layers: c.layers})
			if err != nil {
				t.Fatal(err)
			}
			x := batch(1, m.Inputs())
			if !c.random {
				x.Var = nil
			}
			v, err := m.Verify(t.Context(), x, model.VerifyConfig{Networks: 2})
			if err != nil {
				t.Fatal(err)
			}
			var marked []string
			for _, l := range v.Layers {
				if l.AssumesIndependence {
					marked = append(marked, l.Name)
				}
			}
			if got := strings.Join(marked, " "); got != c.want {
				t.Errorf("marked are %q, want %q", got, c.want)
			}
		})
	}
}

// The standard error of σ heeds heavy tails. x³ of a Normal has the kurtosis 68 − 3:
// √(65+2)/2 of 1/√n, where Normal draws have 1/√2.
func TestVerifyKnowsItsError(t *testing.T) {
	const n = 20_000
	cube := &moment.Func{Name: "cube", F: func(x float64) float64 { return x * x * x }}
	m := build(t, 1, nn.Dense{Out: 1, NoBias: true}, nn.Apply{F: cube, Rule: moment.GaussHermite(9)})
	m.Params.Tensors[0].Mean[0] = 0
	m.Changed()
	v := verify(t, m, 1, model.VerifyConfig{Networks: n})
	if got, want := v.Layers[0].StdError*math.Sqrt(n), 1/math.Sqrt2; math.Abs(got/want-1) > 0.05 {
		t.Errorf("a Normal: %.3f/√n, want %.3f", got, want)
	}
	if got, want := v.StdError*math.Sqrt(n), math.Sqrt(68.0-1)/2; got != v.Layers[1].StdError*math.Sqrt(n) || math.Abs(got/want-1) > 0.3 {
		t.Errorf("a cube of a Normal: %.3f/√n, want %.3f", got, want)
	}
	if v.Ratio.Error != v.StdError {
		t.Errorf("%+v", v.Ratio)
	}
}

func TestVerifyRefuses(t *testing.T) {
	m := build(t, 3, nn.Dense{Out: 2})
	for want, f := range map[string]func() error{
		"1 networks; a variance needs at least 2": func() error {
			_, err := m.Verify(context.Background(), batch(1, 3), model.VerifyConfig{Networks: 1})
			return err
		},
		"no rows of inputs": func() error {
			_, err := m.Verify(context.Background(), batch(0, 3), model.VerifyConfig{})
			return err
		},
		"the rows have 2 numbers; the network has 3 inputs": func() error {
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
