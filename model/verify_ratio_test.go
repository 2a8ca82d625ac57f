package model_test

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"utvi/fn"
	"utvi/gauss"
	"utvi/model"
	"utvi/moment"
	"utvi/nn"
)

func ratio(t *testing.T, m *model.Model, x gauss.Batch[float32], c model.VerifyConfig) *model.SigmaRatio {
	t.Helper()
	r, err := m.SigmaRatio(t.Context(), x, c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A network whose moments are exact is believed, whatever noise it has and however
// uncertain its inputs are: only the weights' part counts.
func TestSigmaRatioOfAnExactNetwork(t *testing.T) {
	act := nn.Apply{F: fn.LeakyReLU(0.1), Rule: moment.Exact()}
	m := build(t, 3, nn.Dense{Out: 20}, act, nn.Dense{Out: 2}, nn.Noise{Start: 5})
	x := batch(12, 3)
	r := ratio(t, m, x, model.VerifyConfig{Networks: 4000})
	if math.Abs(r.Median-1) > 0.03 || r.P05 < 0.93 || r.P95 > 1.07 || r.Compared != 24 || r.Members != 1 || r.Networks != 4000 {
		t.Errorf("%+v", r)
	}
	if r.Belief != model.Believe || r.Advice != "" || !strings.HasPrefix(r.Sentence(), "Believe what the weights add to the error bars:") || r.Error < 0.01 || r.Error > 0.014 {
		t.Errorf("%+v %s", r, r.Sentence())
	}
	x.Var = nil
	if same := ratio(t, m, x, model.VerifyConfig{Networks: 4000, Workers: 3}); !reflect.DeepEqual(same, r) {
		t.Errorf("%+v without variances of the inputs and with other workers, %+v", same, r)
	}
	if v := verify(t, m, 12, model.VerifyConfig{Networks: 4000}); v.Ratio != *r {
		t.Errorf("Verify has %+v", v.Ratio)
	}
}

// A residual that doubles its input has √½ of the true σ, and three points of a
// ReLU-like function are blind beyond √3 σ. Full covariances see the former.
func TestSigmaRatioDoesNotBelieve(t *testing.T) {
	m := build(t, 1, nn.Dense{Out: 3}, nn.Residual{Branch: nn.Dense{Out: 3, Fixed: true, NoBias: true}})
	w := m.Params.Tensors[2]
	clear(w.Mean)
	w.Mean[0] = 1
	w.Mean[4] = 1
	w.Mean[8] = 1
	m.Changed()
	x := batch(4, 1)
	r := ratio(t, m, x, model.VerifyConfig{Networks: 2000, Order: 1})
	if math.Abs(r.Median-math.Sqrt(0.5)) > 0.03 || r.Belief != model.DoNotBelieve || !strings.Contains(r.Sentence(), "% too small in the median. To fix it, train with nn.Correlate: ") {
		t.Errorf("%+v %s", r, r.Sentence())
	}
	if c := r.Covariances; c == nil || c.Order != 1 || math.Abs(c.Median-1) > 0.03 {
		t.Errorf("%+v", c)
	}
	blind := build(t, 1, nn.Dense{Out: 2}, nn.Apply{F: fn.ReLU(), Rule: moment.UT(2)})
	for i := range 2 {
		blind.Params.Tensors[0].Mean[i], blind.Params.Tensors[1].Mean[i] = 0, -0.18 // σ is 0.1
	}
	blind.Changed()
	x = gauss.Fixed(1, []float32{0})
	if r := ratio(t, blind, x, model.VerifyConfig{Networks: 2000}); r.Median != 0 || !strings.Contains(r.Sentence(), "the rule exact or gh(9)") {
		t.Errorf("%+v %s", r, r.Sentence())
	}
	certain := build(t, 1, nn.Dense{Out: 2, Fixed: true}, nn.Noise{})
	if r := ratio(t, certain, x, model.VerifyConfig{Networks: 8}); r.Belief != model.Nothing || r.Compared != 0 || !strings.Contains(r.String(), "do not depend on random weights") {
		t.Errorf("%+v %s", r, r.Sentence())
	}
}

func ExampleEnsemble_SigmaRatio() {
	act := nn.Apply{F: fn.LeakyReLU(0.1), Rule: moment.Exact()}
	var members []*model.Model
	for seed := range 3 {
		m, _ := model.New(model.Config{Input: nn.Vec(2), Layers: nn.Chain{nn.Dense{Out: 30}, act, nn.Dense{Out: 1}}, Seed: uint64(seed)})
		members = append(members, m)
	}
	e, _ := model.NewEnsemble(members...)
	r, err := e.SigmaRatio(context.Background(), gauss.Fixed(2, []float32{1, 0, -1, 2}), model.VerifyConfig{Networks: 500})
	if err != nil {
		panic(err)
	}
	fmt.Println(r.Sentence())
	// Output: Believe what the weights add to the error bars: it agrees with networks drawn from the weights.
}

// The ratio of an output that hardly varies has no meaningful digits.
func TestSigmaRatioWritesHugeRatios(t *testing.T) {
	s := &model.SigmaRatio{Median: 1, P05: 0.5, P95: 7e7, Networks: 300, Members: 5, Error: 0.04}
	want := "σ propagated / σ drawn: 1.00 (90 % of outputs: 0.50 to more than 100; 1500 networks, ±4.0 % by chance)"
	if got := s.String(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A classifier is judged by its logits, which are exact here. The probability of the last class
// is about e⁻³⁰, and what σ it has says nothing.
func TestSigmaRatioOfAClassifier(t *testing.T) {
	act := nn.Apply{F: fn.LeakyReLU(0.1), Rule: moment.Exact()}
	for _, last := range []*moment.Map{fn.Softmax(), fn.LogSoftmax()} {
		m := build(t, 3, nn.Dense{Out: 20}, act, nn.Dense{Out: 3}, nn.Joint{Map: last})
		m.Params.Tensors[3].Mean[2] = -30
		m.Changed()
		r := ratio(t, m, batch(12, 3), model.VerifyConfig{Networks: 2000})
		if !r.Logits || r.Belief != model.Believe || r.Compared != 36 || !strings.Contains(r.String(), "90 % of logits") {
			t.Errorf("%s: %+v", last.Name, r)
		}
	}
}
