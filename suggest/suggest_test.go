package suggest_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"utvi/fit"
	"utvi/gauss"
	"utvi/internal/demo"
	"utvi/internal/tabular"
	"utvi/predict"
	"utvi/rng"
	"utvi/suggest"
	"utvi/table"
)

// quick is a network that is trained in no time.
var quick = tabular.Config{Ensemble: 3, Noise: tabular.Heteroscedastic, KL: 0.03, Activation: "gelu", Depth: 1, Width: 24, Steps: 800, Batch: 32, Rate: 0.02, Bins: -1, Waves: -1}

func fitTo(text, target string) (*predict.Model, error) {
	r, err := table.NewReader(strings.NewReader(text), "t.csv", table.Options{})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	f, err := table.Load(r)
	if err != nil {
		return nil, err
	}
	m, err := fit.Run(context.Background(), f, fit.Config{Targets: strings.Split(target, ","), Holdout: -1, Network: quick}, fit.Options{Workers: 2})
	if err != nil {
		return nil, err
	}
	return m.Model.Model, nil
}

var resin = sync.OnceValues(func() (*predict.Model, error) {
	var b bytes.Buffer
	if err := demo.Table(&b, 200, 1, false); err != nil {
		return nil, err
	}
	return fitTo(b.String(), "strength")
})

// gap is a model of a wave, with rows at both ends and none between 1 and 3.
var gap = sync.OnceValues(func() (*predict.Model, error) {
	var b strings.Builder
	b.WriteString("x,y\n")
	for i := range 60 {
		x := float64(i%30) / 30
		if i >= 30 {
			x += 3
		}
		fmt.Fprintf(&b, "%g,%g\n", x, math.Sin(2*x)+0.05*rng.Normal(rng.New(1), uint64(i)))
	}
	return fitTo(b.String(), "y")
})

func must(t *testing.T, of func() (*predict.Model, error)) *predict.Model {
	t.Helper()
	m, err := of()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// line are candidates from 0 to 4 as the model sees them.
func line(t *testing.T, m *predict.Model) (x gauss.Batch[float32], at []float64) {
	t.Helper()
	text := "x\n"
	for i := range 81 {
		at = append(at, float64(i)/20)
		text += fmt.Sprintln(at[i])
	}
	r, err := table.NewReader(strings.NewReader(text), "c.csv", table.Options{})
	if err != nil {
		t.Fatal(err)
	}
	x, err = m.ReadInputs(r, 0)
	if err != nil {
		t.Fatal(err)
	}
	return x, at
}

// What teaches most about a gap lies in it, and rows of a batch lie apart; a price moves them.
func TestLearn(t *testing.T) {
	m := must(t, gap)
	x, at := line(t, m)
	all, err := suggest.Rows(t.Context(), m, x, nil, suggest.Config{Goal: suggest.Learn, Count: 4})
	if err != nil {
		t.Fatal(err)
	}
	if first := at[all[0].Row]; first < 1 || first > 3 {
		t.Errorf("the first row is %g", first)
	}
	apart := 0.0
	for i, a := range all {
		for _, b := range all[:i] {
			if a.Row == b.Row {
				t.Errorf("%g is suggested twice", at[a.Row])
			}
			apart = max(apart, math.Abs(at[a.Row]-at[b.Row]))
		}
		if i > 0 && a.Gain > all[i-1].Gain*1.0001 || a.Gain <= 0 || a.Gain > 1 {
			t.Errorf("gain %d is %g, that before it %g", i, a.Gain, all[max(0, i-1)].Gain)
		}
	}
	if apart < 0.3 {
		t.Errorf("the rows of a batch are no more than %g apart", apart)
	}
	costs := make([]float64, x.Rows)
	for i := range costs {
		costs[i] = 1 + 1000*max(0, at[i]-1.5)
	}
	cheap, err := suggest.Rows(t.Context(), m, x, costs, suggest.Config{Goal: suggest.Learn})
	if err != nil {
		t.Fatal(err)
	}
	if where := at[cheap[0].Row]; where > 1.5 {
		t.Errorf("although it costs %g, %g is suggested", costs[cheap[0].Row], where)
	}
}

// A large strength is looked for where the demo's formula has it, the same at every call.
func TestMax(t *testing.T) {
	m := must(t, resin)
	s, err := suggest.NewSpace(m, suggest.Limits{Range: map[string][2]float64{"temperature": {110, 180}}})
	if err != nil {
		t.Fatal(err)
	}
	c := suggest.Config{Goal: suggest.Max, Count: 3, Best: math.NaN(), Draws: 64}
	points, all, err := s.Pick(t.Context(), nil, c)
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range all {
		cells := s.Cells(points[x.Row])
		if p := points[x.Row]; i == 0 && (cells[3] != "birch" || p[0] < 125 || p[0] > 165 || p[2] < 30) {
			t.Errorf("suggested: %v", cells)
		}
		if x.Mean < 44 || !(x.Chance > 0 && x.Chance <= 1) || x.Why == "" {
			t.Errorf("%v: %+v", cells, x)
		}
	}
	again, same, err := s.Pick(t.Context(), nil, c)
	if err != nil || !slices.EqualFunc(points, again, slices.Equal[suggest.Point]) || fmt.Sprint(all) != fmt.Sprint(same) {
		t.Error("two calls suggest other rows")
	}
	near, err := suggest.Rows(t.Context(), must(t, gap), first(line(t, must(t, gap))), nil, suggest.Config{Goal: suggest.Near, At: 0.5, Best: math.NaN()})
	if err != nil || math.Abs(near[0].Mean-0.5) > 3*near[0].Doubt+0.1 {
		t.Errorf("near 0.5: %+v, %v", near, err)
	}
}

func first[A, B any](a A, _ B) A { return a }

func TestRefuses(t *testing.T) {
	m := must(t, gap)
	x, _ := line(t, m)
	costs := make([]float64, x.Rows)
	certain, err := fitTo("x,y\n"+strings.Repeat("1,2\n2,3\n3,5\n4,4\n", 5), "y")
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range certain.Networks.Members {
		for _, p := range n.Params.Tensors {
			for i := range p.Rho {
				p.Rho[i] = -200
			}
		}
		n.Changed()
	}
	certain.Networks.Members = certain.Networks.Members[:1]
	certain.Memory = nil // which tells of weights, too
	y, _ := line(t, certain)
	for says, c := range map[string]struct {
		m     *predict.Model
		x     gauss.Batch[float32]
		costs []float64
		c     suggest.Config
	}{
		"the list is empty or exhausted":                 {m: m, x: gauss.Batch[float32]{Width: 1}, c: suggest.Config{Goal: suggest.Learn}},
		"row 1 costs 0; a cost must":                     {m: m, x: x, costs: costs, c: suggest.Config{Goal: suggest.Learn}},
		"unknown goal":                                   {m: m, x: x, c: suggest.Config{Goal: "best"}},
		"the model has no target z":                      {m: m, x: x, c: suggest.Config{Goal: suggest.Min, Target: "z"}},
		"no candidate meets the requirements with":       {m: m, x: x, c: suggest.Config{Goal: suggest.Min, Sure: 0.9, Require: []suggest.Requirement{{Target: "y", Above: true, At: 100}}}},
		"-3 rows are asked for":                          {m: m, x: x, c: suggest.Config{Goal: suggest.Min, Count: -3}},
		"the model has no doubt: its weights have no va": {m: certain, x: y, c: suggest.Config{Goal: suggest.Learn}},
	} {
		if _, err := suggest.Rows(t.Context(), c.m, c.x, c.costs, c.c); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", says, err)
		}
	}
	for says, l := range map[string]suggest.Limits{
		"has no column z to choose":         {Range: map[string][2]float64{"z": {0, 1}}},
		"cannot lie between 3 and 2":        {Range: map[string][2]float64{"temperature": {3, 2}}},
		"has no level oak":                  {Levels: map[string][]string{"resin": {"oak"}}},
		"holds categories and has no range": {Range: map[string][2]float64{"resin": {0, 1}}},
		"there is none between 3.2 and 3.8": {Range: map[string][2]float64{"minutes": {3.2, 3.8}}},
	} {
		if _, err := suggest.NewSpace(must(t, resin), l); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", says, err)
		}
	}
}
