package model_test

import (
	"math"
	"testing"

	"utvi/fn"
	"utvi/internal/widths"
	"utvi/model"
	"utvi/nn"
)

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
	l := &widths.Level{Power: 0.4, Least: 1e-9, Most: 1e9, Tilt: 0.3, Low: -9, High: 9,
		Curve: &widths.Curve{Along: 0.2, At: []float64{-8, 8}, Log: []float64{-1, 1}}}
	h, err := e.NewHeadOn(nil, 5, []widths.Target{{Scale: 1}, {Scale: 3, Level: l}})
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

// Where the weights know less than targets vary, predictions are drawn to the mean of the targets: the
// mixture and its parts by the same share.
func TestSupport(t *testing.T) {
	var nets []*model.Model
	for range 2 {
		nets = append(nets, build(t, 3, nn.Dense{Out: 8}, nn.Apply{F: fn.Tanh()}, nn.Dense{Out: 1}, nn.Noise{}))
	}
	e, err := model.NewEnsemble(nets...)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := e.NewHead(5)
	if err != nil {
		t.Fatal(err)
	}
	x := batch(5, 3)
	was := plain.Predict(x)
	s := &widths.Support{Var: 0.01}
	for _, w := range was.Weights {
		s.Usual += float64(w) / 5
	}
	h, err := e.NewHeadOn(nil, 5, []widths.Target{{Scale: 1, Support: s}})
	if err != nil {
		t.Fatal(err)
	}
	got := h.Predict(x)
	drawn := 0
	for i := range got.Mean {
		share := s.Share(float64(was.Weights[i]))
		if share < 1 {
			drawn++
		}
		for _, v := range [][2]float32{{got.Mean[i], was.Mean[i]}, {got.Var[i], was.Var[i]}, {got.Weights[i], was.Weights[i]}, {got.Noise[i], was.Noise[i]}} {
			if math.Abs(float64(v[0])-share*float64(v[1])) > 1e-6*(1+math.Abs(float64(v[1]))) {
				t.Errorf("row %d: %v, want %v times %v", i, v[0], share, v[1])
			}
		}
		var mean, variance float64 // of the mixture of the members
		for k := range 2 {
			m, v := got.Member(k, i)
			mean += float64(m) / 2
			variance += (float64(v) + float64(m*m)) / 2
		}
		variance -= mean * mean
		if math.Abs(mean-float64(got.Mean[i])) > 1e-5 || math.Abs(variance-float64(got.Var[i])) > 1e-4*float64(got.Var[i]) {
			t.Errorf("row %d: the members give %v and %v, the head %v and %v", i, mean, variance, got.Mean[i], got.Var[i])
		}
	}
	if drawn == 0 || drawn == got.Rows {
		t.Errorf("%d of %d rows are drawn", drawn, got.Rows)
	}
}

// What networks disagree about is added to the variance of each, several times, before the level.
func TestApart(t *testing.T) {
	var nets []*model.Model
	for seed := range 3 {
		n, err := model.New(model.Config{Input: nn.Vec(3), Seed: uint64(seed), Layers: []nn.Layer{nn.Dense{Out: 8}, nn.Apply{F: fn.Tanh()}, nn.Dense{Out: 1}, nn.Noise{}}})
		if err != nil {
			t.Fatal(err)
		}
		nets = append(nets, n)
	}
	e, err := model.NewEnsemble(nets...)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := e.NewHead(5)
	if err != nil {
		t.Fatal(err)
	}
	x := batch(5, 3)
	was := plain.Predict(x)
	apart := make([]float64, 5)
	for i := range apart {
		for k := range nets {
			m, _ := was.Member(k, i)
			apart[i] += math.Pow(float64(m-was.Mean[i]), 2) / 3
		}
	}
	const times = 2
	l := &widths.Level{Power: 0.3, Least: 1e-3, Most: 1e3}
	h, err := e.NewHeadOn(nil, 5, []widths.Target{{Scale: 1.5, Apart: times, Level: l}})
	if err != nil {
		t.Fatal(err)
	}
	got := h.Predict(x)
	for i := range got.Mean {
		var total float64
		for k := range nets {
			m, v := was.Member(k, i)
			_, w := got.Member(k, i)
			all := float64(v) + times*apart[i]
			f := l.Factor(float64(m), all)
			if math.Abs(float64(w)-all*f) > 1e-5*all*f {
				t.Errorf("row %d, network %d: variance %v, want %v", i, k, w, all*f)
			}
			total += all * f / 3
		}
		want := apart[i] + 1.5*total
		if math.Abs(float64(got.Var[i])-want) > 1e-5*want || got.Mean[i] != was.Mean[i] || !(apart[i] > 0) {
			t.Errorf("row %d: variance %v, want %v", i, got.Var[i], want)
		}
		if parts := float64(got.Weights[i] + got.Inputs[i] + got.Noise[i]); math.Abs(parts-want) > 1e-5*want {
			t.Errorf("row %d: the parts add up to %v, want %v", i, parts, want)
		}
	}
}
