package model_test

import (
	"math"
	"slices"
	"sync"
	"testing"

	"utvi/engine"
	"utvi/fn"
	"utvi/gauss"
	"utvi/internal/compute"
	"utvi/internal/special"
	"utvi/likelihood"
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

// head returns a head over networks of their own likelihoods.
func head(t testing.TB, rows int, members ...*model.Model) *model.Head {
	t.Helper()
	e, err := model.NewEnsemble(members...)
	if err != nil {
		t.Fatal(err)
	}
	h, err := e.NewHead(rows)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// A linear network has a budget that can be written down: with y = w·x + b and
// noise σ², weights x̄²s + s_b, inputs v(w̄² + s), noise σ².
func TestBudgetOfALine(t *testing.T) {
	m := build(t, 3, nn.Dense{Out: 2}, nn.Noise{Start: 0.3})
	x := batch(5, 3)
	b := head(t, 5, m).Predict(x)
	if b.NoiseInWeights {
		t.Error("the network has a noise layer")
	}
	w, bias := m.Params.Tensors[0], m.Params.Tensors[1]
	sigma2 := func(rho float32) float64 { s := special.Softplus(float64(rho)); return s * s }
	for row := range 5 {
		for o := range 2 {
			weights, inputs := sigma2(bias.Rho[o]), 0.0
			for i := range 3 {
				s := sigma2(w.Rho[2*i+o])
				mean := float64(w.Mean[2*i+o])
				xm := float64(x.Mean[3*row+i])
				xv := float64(x.Var[3*row+i])
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
}

// Without noise and without input variance all variance is the weights'.
func TestBudgetWithoutNoise(t *testing.T) {
	m := build(t, 3, nn.Dense{Out: 8}, nn.Apply{F: fn.Tanh()}, nn.Dense{Out: 2})
	x := batch(5, 3)
	x.Var = nil
	b := head(t, 5, m).Predict(x)
	for i := range b.Var {
		if b.Weights[i] != b.Var[i] || b.Inputs[i] != 0 || b.Noise[i] != 0 || b.Var[i] == 0 {
			t.Errorf("%v is %v + %v + %v", b.Var[i], b.Weights[i], b.Inputs[i], b.Noise[i])
		}
	}
	if !b.NoiseInWeights {
		t.Error("there is no noise layer")
	}
	fixed := build(t, 3, nn.Dense{Out: 1, Fixed: true})
	if b := head(t, 5, fixed).Predict(x); b.Var[0] != 0 || b.Weights[0] != 0 {
		t.Errorf("a network of numbers has variance %v", b.Var[0])
	}
}

// A budget follows the weights as they change.
func TestBudgetFollowsTraining(t *testing.T) {
	m := build(t, 1, nn.Dense{Out: 1}, nn.Noise{})
	p := head(t, 1, m)
	x := batch(1, 1)
	p.Predict(x)
	m.Params.Tensors[1].Rho[0] = 2 // of the bias
	m.Changed()
	s := special.Softplus(2)
	if b := p.Predict(x); float64(b.Weights[0]) < s*s {
		t.Errorf("the weights give %v after the bias got a variance of %v", b.Weights[0], s*s)
	}
}

func TestBudgetDoesNotAllocate(t *testing.T) {
	m := build(t, 3, nn.Dense{Out: 40}, nn.Apply{F: fn.LeakyReLU(0.01)}, nn.Dense{Out: 2}, nn.Noise{})
	x := inputs(150)
	e, err := model.NewEnsemble(m)
	if err != nil {
		t.Fatal(err)
	}
	p, err := e.NewHeadOn(engine.NewPool(2), 150, nil)
	if err != nil {
		t.Fatal(err)
	}
	p.Predict(x)
	if n := testing.AllocsPerRun(10, func() { p.Predict(x) }); n != 0 {
		t.Errorf("Predict allocates %v times", n)
	}
}

// Budgets may be asked for by many goroutines at once.
func TestConcurrentBudgets(t *testing.T) {
	m := build(t, 3, nn.Dense{Out: 8}, nn.Apply{F: fn.Tanh()}, nn.Dense{Out: 2}, nn.Noise{})
	x := batch(5, 3)
	want := head(t, 5, m).Predict(x)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			got := head(t, 5, m).Predict(x)
			if !slices.Equal(got.Weights, want.Weights) || !slices.Equal(got.Noise, want.Noise) || !slices.Equal(got.Inputs, want.Inputs) {
				t.Error("a concurrent budget disagrees")
			}
		})
	}
	wg.Wait()
}

// Noise before the last layer counts as noise, whatever holds it: the parts are those
// of the network asked without it.
func TestInnerNoise(t *testing.T) {
	for _, last := range []bool{false, true} {
		innerNoise(t, func(off bool) []nn.Layer {
			layers := []nn.Layer{nn.Dense{Out: 4}, nn.Residual{Branch: nn.Chain{nn.Dense{Out: 4}, nn.Noise{Start: 0.4, Off: off}}}, nn.Apply{F: fn.Tanh()}, nn.Dense{Out: 2}}
			if last {
				layers = append(layers, nn.Noise{Start: 0.2, Off: off})
			}
			return layers
		})
	}
}

func innerNoise(t *testing.T, layers func(off bool) []nn.Layer) {
	m, quiet := build(t, 3, layers(false)...), build(t, 3, layers(true)...)
	x := batch(5, 3)
	b := head(t, 5, m).Predict(x)
	all, without := m.NewPredictor(5).Predict(x), quiet.NewPredictor(5).Predict(x)
	exact := quiet.NewPredictor(5).Predict(gauss.Fixed(3, x.Mean))
	if b.NoiseInWeights {
		t.Error("the network has a noise layer")
	}
	for i := range b.Var {
		noise, inputs := all.Var[i]-without.Var[i], max(0, without.Var[i]-exact.Var[i])
		if !(noise > 0) || b.Noise[i] != noise || b.Inputs[i] != inputs || b.Weights[i] != without.Var[i]-inputs {
			t.Errorf("%v is %v + %v + %v, want noise %v and inputs %v", b.Var[i], b.Weights[i], b.Inputs[i], b.Noise[i], noise, inputs)
		}
	}
}

// boxed is a container from outside the module: whatever its layer does.
type boxed struct{ nn.Layer }

func (boxed) Kind() string                              { return "boxed" }
func (b boxed) Children() []nn.Layer                    { return []nn.Layer{b.Layer} }
func (b boxed) WithChildren(layers []nn.Layer) nn.Layer { return boxed{layers[0]} }

// Noise within a user's container is noise, last or not.
func TestNoiseInContainer(t *testing.T) {
	x := batch(5, 3)
	plain := head(t, 5, build(t, 3, nn.Dense{Out: 2}, nn.Noise{Start: 0.3})).Predict(x)
	b := head(t, 5, build(t, 3, nn.Dense{Out: 2}, boxed{nn.Noise{Start: 0.3}})).Predict(x)
	if b.NoiseInWeights {
		t.Error("the container holds a noise layer")
	}
	for i := range b.Var {
		if math.Abs(float64(b.Noise[i])-0.09) > 1e-6 || math.Abs(float64(b.Weights[i]-plain.Weights[i])) > 1e-6 || b.Inputs[i] == 0 {
			t.Errorf("%v is %v + %v + %v, without the container %v + %v + %v", b.Var[i], b.Weights[i], b.Inputs[i], b.Noise[i], plain.Weights[i], plain.Inputs[i], plain.Noise[i])
		}
	}
}

// The likelihood says what outputs mean, inside weights too: their noise is noise.
func TestHeadReadsLikelihoods(t *testing.T) {
	x := batch(4, 3)
	for _, l := range []likelihood.Likelihood{likelihood.Heteroscedastic{}, likelihood.Weighted{Of: likelihood.Heteroscedastic{}},
		likelihood.ExpectedNormal{Std: 0.3}, likelihood.Poisson{}} {
		m := build(t, 3, nn.Dense{Out: 8}, nn.Apply{F: fn.Tanh()}, nn.Dense{Out: 4})
		m.Likelihood = l
		b := head(t, 4, m).Predict(x)
		if b.NoiseInWeights {
			t.Errorf("%v: the noise is the likelihood's, not the weights'", l)
		}
		out := m.NewPredictor(4).Predict(x)
		y, err := likelihood.Moments(l, out)
		if err != nil || y.Width != b.Width {
			t.Fatalf("%v: %d targets, want %d (%v)", l, b.Width, y.Width, err)
		}
		p := likelihood.Inner(l).(likelihood.Predictive)
		for r := range 4 {
			mean, variance := make([]float64, 4), make([]float64, 4)
			ymean, yvar := make([]float64, b.Width), make([]float64, b.Width)
			compute.Convert(mean, out.Mean[4*r:4*r+4])
			compute.Convert(variance, out.Var[4*r:4*r+4])
			p.Predict(mean, variance, ymean, yvar)
			for k := range b.Width {
				i := r*b.Width + k
				if math.Abs(float64(b.Mean[i])-ymean[k]) > 1e-5*(1+math.Abs(ymean[k])) || math.Abs(float64(b.Var[i])-yvar[k]) > 1e-5*yvar[k] ||
					math.Abs(float64(y.Var[i])-yvar[k]) > 1e-5*yvar[k] || !(b.Noise[i] > 0) || !(b.Weights[i] > 0) || !(b.Inputs[i] > 0) {
					t.Errorf("%v: %v ± %v = %v + %v + %v, want %v ± %v", l, b.Mean[i], b.Var[i], b.Weights[i], b.Inputs[i], b.Noise[i], ymean[k], yvar[k])
				}
			}
		}
	}
	m := build(t, 3, nn.Dense{Out: 4}, nn.Joint{Map: fn.Softmax()})
	m.Likelihood = likelihood.Categorical{}
	if b := head(t, 4, m).Predict(x); !b.Classes || b.Width != 4 || b.NoiseInWeights {
		t.Errorf("classes %v, %d wide", b.Classes, b.Width)
	}
	m.Likelihood = likelihood.Heteroscedastic{}
	odd, err := model.NewEnsemble(m, build(t, 3, nn.Dense{Out: 4}))
	if err != nil {
		t.Fatal(err)
	}
	_, err = odd.NewHead(1)
	wantError(t, err, "network 1 and network 0 have different likelihoods")
}

// What Predict panics about, TryPredict returns.
func TestTryPredict(t *testing.T) {
	m := build(t, 3, nn.Dense{Out: 2})
	h, p := head(t, 4, m), m.NewPredictor(4)
	negative := batch(2, 3)
	negative.Var[4] = -1
	for want, x := range map[string]gauss.Batch[float32]{
		"the rows have 2 numbers; the network has 3 inputs":      batch(1, 2),
		"5 rows; the predictor was made for at most 4":           batch(5, 3),
		"2 rows of 3 inputs do not hold 4 means and 0 variances": {Rows: 2, Width: 3, Mean: make([]float32, 4)},
		"the variance of input 1 of row 1 is -1; it must be ≥ 0": negative,
	} {
		_, err := h.TryPredict(x)
		wantError(t, err, want)
		_, err = p.TryPredict(x)
		wantError(t, err, want)
	}
	if _, err := h.TryPredict(batch(4, 3)); err != nil {
		t.Error(err)
	}
}
