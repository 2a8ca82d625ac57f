package model_test

import (
	"math"
	"strings"
	"testing"

	"utvi/engine"
	"utvi/gauss"
	"utvi/model"
	"utvi/nn"
	"utvi/vi"
)

func TestConfigMisuse(t *testing.T) {
	nan := math.NaN()
	for says, c := range map[string]model.Config{
		"ρ starts between NaN":      {Init: vi.Init{RhoMin: nan, RhoMax: 1}},
		"ρ starts between 2 and 1":  {Init: vi.Init{RhoMin: 2, RhoMax: 1}},
		"vi.Std takes a number > 0": {Init: vi.Std(-1)},
		"ρ starts between -Inf":     {Init: vi.Std(0)},
		"the prior is N(1, 0²)":     {Prior: vi.Prior{Mean: 1}},
		"the prior is N(0, NaN²)":   {Prior: vi.Prior{Std: nan}},
		"the prior is N(+Inf, 1²)":  {Prior: vi.Prior{Mean: math.Inf(1), Std: 1}},
	} {
		c.Input, c.Layers = nn.Vec(1), nn.Chain{nn.Dense{Out: 1}}
		if _, err := model.New(c); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("error %v, want one with %q", err, says)
		}
	}
}

// A shape whose size overflows is no shape.
func TestInputMisuse(t *testing.T) {
	for says, in := range map[string]nn.Shape{
		"height, width and channels must be at least 1": {H: 4, W: 4},
		"a row may have at most 16777216 inputs":        {H: 1 << 31, W: 1 << 31, C: 4},
		"network: the input shape is -1×1×1; height, ":  {H: -1, W: 1, C: 1},
	} {
		if _, err := model.New(model.Config{Input: in, Layers: nn.Chain{nn.Dense{Out: 1}}}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("error %v, want one with %q", err, says)
		}
	}
}

// Priors reach every tensor that is random and has none of its own, and the unit
// that is trained.
func TestPrior(t *testing.T) {
	want := vi.Prior{Mean: 0.5, Std: 2}
	own := nn.Stochastic{F: func(x, a float64) float64 { return x * a }, Prior: vi.Prior{Mean: 3, Std: 1}}
	m, err := model.New(model.Config{Input: nn.Vec(2), Prior: want, Layers: nn.Chain{nn.Dense{Out: 3}, nn.Dense{Out: 1, Fixed: true}, own}})
	if err != nil {
		t.Fatal(err)
	}
	b := &nn.Binder[float32]{Train: true}
	if _, err := engine.Bind(m.Network(), b); err != nil {
		t.Fatal(err)
	}
	p := b.Params
	for i, x := range m.Params.Tensors {
		want := map[string]vi.Prior{"0.dense.weight": want, "0.dense.bias": want, "2.stochastic.theta": own.Prior}[x.Name]
		if q := p.Tensors[i].Prior; x.Prior != want || q != want {
			t.Errorf("%s has prior %v, and %v in training; want %v", x.Name, x.Prior, q, want)
		}
	}
}

// Options of nothing are a mistake in the program.
func TestOptionsOfNil(t *testing.T) {
	for name, f := range map[string]func(){
		"layer": func() { model.WithLayer(nil) }, "likelihood": func() { model.WithLikelihood(nil) },
		"rule": func() { model.WithRule(nil) }, "joint rule": func() { model.WithJointRule(nil) },
	} {
		func() {
			defer func() {
				if s, ok := recover().(string); !ok || !strings.HasSuffix(s, "of nil") {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

func TestPredictMisusePanics(t *testing.T) {
	m, err := model.New(model.Config{Input: nn.Vec(2), Layers: nn.Chain{nn.Dense{Out: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string]gauss.Batch[float32]{
		"mean":              {Rows: 1, Width: 2, Mean: []float32{1}},
		"variance":          {Rows: 1, Width: 2, Mean: []float32{1, 2}, Var: []float32{1}},
		"width":             {Rows: 1, Width: 3, Mean: []float32{1, 2, 3}},
		"rows":              {Rows: 2, Width: 2, Mean: []float32{1, 2, 3, 4}},
		"negative variance": {Rows: 1, Width: 2, Mean: []float32{1, 2}, Var: []float32{1, -1e-9}},
	} {
		func() {
			defer func() {
				s, ok := recover().(string)
				if !ok || !strings.HasPrefix(s, "model: ") {
					t.Errorf("%s: no panic of the package", name)
				}
				if name == "width" && s != "model: a row has 3 numbers; the network has 2 inputs" {
					t.Errorf("%s: %s", name, s)
				}
			}()
			m.NewPredictor(1).Predict(x)
		}()
	}
}
