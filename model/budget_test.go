package model_test

import (
	"math"
	"slices"
	"sync"
	"testing"

	"utvi/fn"
	"utvi/internal/compute"
	"utvi/internal/special"
	"utvi/model"
	"utvi/nn"
)

func build(t testing.TB, inputs int, layers ...nn.Layer) *model.Model {
	t.Helper()
	m, err := model.New(model.Config{Input: nn.Vec(inputs), Seed: 3, Layers: layers})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// A linear network has a budget that can be written down: with y = w·x + b and
// noise σ², weights x̄²s + s_b, inputs v(w̄² + s), noise σ².
func TestBudgetOfALine(t *testing.T) {
	m := build(t, 3, nn.Dense{Out: 2}, nn.Noise{Start: 0.3})
	p := m.NewPredictor(5)
	x := batch(5, 3)
	b := p.PredictBudget(x)
	if b.NoiseInWeights {
		t.Error("the network has a noise layer")
	}
	w, bias := m.Params.Tensors[0], m.Params.Tensors[1]
	sigma2 := func(rho float32) float64 { s := special.Softplus(float64(rho)); return s * s }
	for row := range 5 {
		for o := range 2 {
			weights, inputs := sigma2(bias.Rho[o]), 0.0
			for i := range 3 {
				s, mean, xm, xv := sigma2(w.Rho[2*i+o]), float64(w.Mean[2*i+o]), float64(x.Mean[3*row+i]), float64(x.Var[3*row+i])
				weights += xm * xm * s
				inputs += xv * (mean*mean + s)
			}
			k := 2*row + o
			for _, c := range []struct {
				name      string
				got, want float64
			}{{"weights", float64(b.Weights[k]), weights}, {"inputs", float64(b.Inputs[k]), inputs}, {"noise", float64(b.Noise[k]), 0.09},
				{"total", float64(b.Var[k]), weights + inputs + 0.09}} {
				if math.Abs(c.got-c.want) > 1e-6*(weights+inputs+0.09) {
					t.Errorf("row %d output %d: %s %v, want %v", row, o, c.name, c.got, c.want)
				}
			}
		}
	}
	if !same(p.Predict(x), m.NewPredictor(5).Predict(x)) {
		t.Error("a budget changes what is predicted afterwards")
	}
}

// Without noise and without input variance all variance is the weights'.
func TestBudgetWithoutNoise(t *testing.T) {
	m := build(t, 3, nn.Dense{Out: 8}, nn.Apply{F: fn.Tanh()}, nn.Dense{Out: 2})
	x := batch(5, 3)
	x.Var = nil
	b := m.NewPredictor(5).PredictBudget(x)
	for i := range b.Var {
		if b.Weights[i] != b.Var[i] || b.Inputs[i] != 0 || b.Noise[i] != 0 || b.Var[i] == 0 {
			t.Errorf("%v is %v + %v + %v", b.Var[i], b.Weights[i], b.Inputs[i], b.Noise[i])
		}
	}
	if !b.NoiseInWeights {
		t.Error("there is no noise layer")
	}
	fixed := build(t, 3, nn.Dense{Out: 1, Fixed: true})
	if b := fixed.NewPredictor(5).PredictBudget(x); b.Var[0] != 0 || b.Weights[0] != 0 {
		t.Errorf("a network of numbers has variance %v", b.Var[0])
	}
}

// A budget follows the weights as they change.
func TestBudgetFollowsTraining(t *testing.T) {
	m := build(t, 1, nn.Dense{Out: 1}, nn.Noise{})
	p := m.NewPredictor(1)
	x := batch(1, 1)
	p.PredictBudget(x)
	m.Params.Tensors[1].Rho[0] = 2 // of the bias
	m.Changed()
	s := special.Softplus(2)
	if b := p.PredictBudget(x); float64(b.Weights[0]) < s*s {
		t.Errorf("the weights give %v after the bias got a variance of %v", b.Weights[0], s*s)
	}
}

func TestBudgetDoesNotAllocate(t *testing.T) {
	m := build(t, 3, nn.Dense{Out: 40}, nn.Apply{F: fn.LeakyReLU(0.01)}, nn.Dense{Out: 2}, nn.Noise{})
	x := inputs(150)
	p := m.NewPredictorOn(compute.NewPool(2), 150)
	p.PredictBudget(x)
	if n := testing.AllocsPerRun(10, func() { p.PredictBudget(x) }); n != 0 {
		t.Errorf("PredictBudget allocates %v times", n)
	}
}

// Budgets may be asked for by many goroutines at once.
func TestConcurrentBudgets(t *testing.T) {
	m := build(t, 3, nn.Dense{Out: 8}, nn.Apply{F: fn.Tanh()}, nn.Dense{Out: 2}, nn.Noise{})
	x := batch(5, 3)
	want := m.NewPredictor(5).PredictBudget(x)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			got := m.NewPredictor(5).PredictBudget(x)
			if !slices.Equal(got.Weights, want.Weights) || !slices.Equal(got.Noise, want.Noise) || !slices.Equal(got.Inputs, want.Inputs) {
				t.Error("a concurrent budget disagrees")
			}
		})
	}
	wg.Wait()
}
