package model_test

import (
	"math"
	"testing"

	"utvi/fn"
	"utvi/model"
	"utvi/nn"
)

func TestLevelFactor(t *testing.T) {
	var none *model.Level
	l := &model.Level{Power: 0.5, Least: 0.25, Most: 4}
	tilted := &model.Level{Power: 0.5, Least: 0.25, Most: 4, Tilt: 0.5, Low: -2, High: 4}
	curve := &model.Curve{Along: 0.5, At: []float64{-1, 0, 2}, Log: []float64{1, 0, -2}}
	bent := &model.Level{Power: 0.5, Least: 0.25, Most: 4, Curve: curve}
	for _, x := range []struct{ got, want float64 }{
		{bent.Factor(0, 1), 1}, {bent.Factor(2, 1), math.Exp(-1)}, {bent.Factor(-1, 1), math.Exp(0.5)}, {bent.Factor(-2, 0.01), 2 * math.E},
		{bent.Factor(-2, math.E), 1}, {bent.Factor(9, 4), math.Exp(-2) / 2},
		{none.Factor(3, 7), 1}, {l.Factor(3, 1), 1}, {l.Factor(3, 4), 0.5}, {l.Factor(3, 100), 0.5}, {l.Factor(3, 0), 2},
		{tilted.Factor(0, 4), 0.5}, {tilted.Factor(2, 4), 0.5 / math.E}, {tilted.Factor(9, 1), math.Exp(-2)}, {tilted.Factor(-9, 1), math.E},
	} {
		if math.Abs(x.got-x.want) > 1e-15 {
			t.Errorf("the factor is %v, want %v", x.got, x.want)
		}
	}
	if none.Check() != nil || l.Check() != nil || tilted.Check() != nil || bent.Check() != nil {
		t.Error(none.Check(), l.Check(), tilted.Check(), bent.Check())
	}
	for _, l := range []model.Level{{}, {Power: 1, Least: 1, Most: 2}, {Power: math.NaN(), Least: 1, Most: 2}, {Least: 2, Most: 1}, {Least: 1, Most: math.Inf(1)},
		{Least: 1, Most: 2, Tilt: 1}, {Least: 1, Most: 2, Tilt: math.NaN()}, {Least: 1, Most: 2, Low: 1}, {Least: 1, Most: 2, High: math.Inf(1)}} {
		if l.Check() == nil {
			t.Errorf("%+v passed", l)
		}
	}
	for _, c := range []model.Curve{{}, {At: []float64{1}, Log: []float64{1}}, {At: []float64{1, 2}, Log: []float64{1}}, {At: []float64{1, 1}, Log: []float64{1, 1}},
		{At: []float64{1, math.Inf(1)}, Log: []float64{1, 1}}, {At: []float64{1, 2}, Log: []float64{1, math.NaN()}}, {At: []float64{1, 2}, Log: []float64{1, 99}},
		{At: []float64{1, 2}, Log: []float64{1, 1}, Along: math.NaN()}} {
		if (&model.Level{Least: 1, Most: 2, Curve: &c}).Check() == nil {
			t.Errorf("%+v passed", c)
		}
	}
}

// A spread changes every network's variance, and the parts of the mixture's with it.
func TestSpread(t *testing.T) {
	var nets []*model.Model
	for range 2 {
		nets = append(nets, build(t, 3, nn.Dense{Out: 8}, nn.Apply{F: fn.Tanh()}, nn.Dense{Out: 2}, nn.Noise{}))
	}
	e, err := model.NewEnsemble(nets...)
	if err != nil {
		t.Fatal(err)
	}
	l := &model.Level{Power: 0.4, Least: 1e-9, Most: 1e9, Tilt: 0.3, Low: -9, High: 9,
		Curve: &model.Curve{Along: 0.2, At: []float64{-8, 8}, Log: []float64{-1, 1}}}
	h, err := e.NewHeadOn(nil, 5, []model.Spread{{Scale: 1}, {Scale: 3, Level: l}})
	if err != nil {
		t.Fatal(err)
	}
	plain, err := e.NewHead(5)
	if err != nil {
		t.Fatal(err)
	}
	x := batch(5, 3)
	got, was := h.Predict(x), plain.Predict(x)
	near := func(what string, got, want float32) {
		if math.Abs(float64(got-want)) > 1e-5*math.Abs(float64(want)) {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	for i := range got.Mean {
		var noise, total float32
		for k := range 2 {
			m, v := was.Member(k, i)
			if i%2 == 1 {
				v *= float32(l.Factor(float64(m), float64(v)))
			}
			own, ownV := got.Member(k, i)
			near("a mean", own, m)
			near("a variance", ownV, v)
			total += v/2 + (m-was.Mean[i])*(m-was.Mean[i])/2
			if i%2 == 1 {
				total += 2 * v / 2
			}
			_, before := was.Member(k, i)
			noise += was.Noise[i] / 2 * v / before // both networks have the noise of one start
		}
		near("the variance", got.Var[i], total)
		if i%2 == 1 {
			noise *= 3
		}
		near("the noise", got.Noise[i], noise)
	}
}
