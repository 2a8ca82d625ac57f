package tabular

import (
	"testing"

	"utvi/rng"
)

// Of a fit that was broken off, the network with the best score is kept, else any
// that took a step.
func TestSalvage(t *testing.T) {
	d := rowsOf(20, 2)
	for i := range d.X.Mean {
		d.X.Mean[i] = float32(rng.Normal(rng.New(1), uint64(i)))
	}
	c := Config{Noise: Learned, Width: 3, Depth: 1, Activation: "tanh"}
	r := &run{plan: c.plan(d), data: d}
	r.candidate = []Candidate{{Noise: Learned, KL: 0, Activation: "tanh", Width: 3, Depth: 1}}
	for i := 1; i < 4; i++ {
		x := r.candidate[0]
		x.KL = float64(i)
		r.candidate = append(r.candidate, x)
	}
	// trained is a network after some steps, which predicts held-out targets, all of them 0, with
	// these standard deviations at its stops: small ones are better.
	trained := func(steps int, sd ...float64) *result {
		m, _, err := r.candidate[0].net(d, 1)
		if err != nil {
			t.Fatal(err)
		}
		x := &result{net: m, step: steps}
		for _, s := range sd {
			h := heldOutPredictions{Mean: make([]float32, d.X.Rows), Var: make([]float32, d.X.Rows)}
			for i := range h.Var {
				h.Var[i] = float32(s * s)
			}
			x.log.Curve, x.log.Held = append(x.log.Curve, Point{}), append(x.log.Held, h)
		}
		return x
	}
	of := func(results ...*result) []fold {
		f := fold{held: d, by: make([][]*result, len(results))}
		for i, x := range results {
			if x != nil {
				f.by[i] = []*result{x}
			}
		}
		return []fold{f}
	}
	for _, x := range []struct {
		what    string
		folds   []fold
		members []*result
		want    float64 // KL of the candidate, −1: none
	}{
		{"the best score", of(trained(8, 1.5), trained(8, 2, 1.2), trained(8, 1, 1.4), nil), nil, 1},
		{"one stop is a score", of(trained(8, 1.5), trained(4, 1.4)), nil, 1},
		{"a score before none", of(trained(3), trained(8, 5), trained(4)), nil, 1},
		{"a step before none", of(trained(0), nil, trained(1), trained(2)), nil, 2},
		{"a member, if there is nothing else", of(nil, trained(0)), []*result{trained(0), trained(5)}, 3},
		{"no member where a trial was scored", of(trained(8, 1)), []*result{trained(5), trained(5)}, 0},
		{"nothing", of(nil, trained(0)), []*result{{}}, -1},
	} {
		f := r.salvage(x.folds, Report{Score: 3, SE: 4}, x.members, []int{2, 3})
		if (f == nil) != (x.want < 0) {
			t.Errorf("%s: %v", x.what, f)
		}
		if f == nil {
			continue
		}
		if m := f.Report.Members; len(m) != 1 || m[0].KL != x.want || !f.Report.Partial || f.Report.Score != 0 || f.Report.SE != 0 {
			t.Errorf("%s: %+v, want candidate %v", x.what, f.Report, x.want)
		}
	}
}

// Networks compete by scores with the shape of their residuals, so the one that is kept has
// that shape: this one calls its errors ten times too small.
func TestSalvageShape(t *testing.T) {
	d := rowsOf(60, 2)
	for i := range d.X.Mean {
		d.X.Mean[i] = float32(rng.Normal(rng.New(1), uint64(i)))
	}
	h := heldOutPredictions{Mean: make([]float32, 60), Var: make([]float32, 60)}
	for i := range d.Y {
		d.Y[i], h.Var[i] = float32(rng.Normal(rng.New(2), uint64(i))), 0.01
	}
	c := Config{Noise: Learned, Width: 3, Depth: 1, Activation: "tanh"}
	r := &run{plan: c.plan(d), data: d}
	m, _, err := r.candidate[0].net(d, 1)
	if err != nil {
		t.Fatal(err)
	}
	x := &result{net: m, step: 8}
	x.log.Curve, x.log.Held = []Point{{Held: 1}}, []heldOutPredictions{h}
	by := make([][]*result, len(r.candidate))
	by[0] = []*result{x}
	f := r.salvage([]fold{{held: d, by: by}, {held: d, by: make([][]*result, len(by))}}, Report{}, nil, nil)
	if s := f.Residuals[0].Scale(); s < 50 || s > 200 {
		t.Errorf("variances grow by %v, want about 100", s)
	}
}

// Among networks of several folds, luck with a few rows counts less than a score of many.
func TestSalvageLuck(t *testing.T) {
	d := rowsOf(16, 2)
	for i := range d.X.Mean {
		d.X.Mean[i] = float32(rng.Normal(rng.New(1), uint64(i)))
	}
	for i := range d.Y {
		d.Y[i] = float32(rng.Normal(rng.New(2), uint64(i)))
	}
	c := Config{Noise: Learned, Width: 3, Depth: 1, Activation: "tanh"}
	r := &run{plan: c.plan(d), data: d}
	r.candidate = []Candidate{r.candidate[0], r.candidate[0]}
	r.candidate[1].KL = 7
	trained := func(step int, off float32) *result {
		m, _, err := r.candidate[0].net(d, 1)
		if err != nil {
			t.Fatal(err)
		}
		h := heldOutPredictions{Mean: make([]float32, d.X.Rows), Var: make([]float32, d.X.Rows)}
		for i, y := range d.Y {
			h.Mean[i], h.Var[i] = off*y, 0.5
		}
		x := &result{net: m, step: step}
		x.log.Curve, x.log.Held = []Point{{Step: step}}, []heldOutPredictions{h}
		return x
	}
	var folds []fold // candidate 0 was trained on all, candidate 1 on the first, where it did a little better
	for range 6 {
		folds = append(folds, fold{held: d, by: [][]*result{{trained(8, 0.1)}, nil}})
	}
	for _, x := range []struct {
		off  float32
		want float64
	}{{0.16, r.candidate[0].KL}, {0.9, 7}} {
		folds[0].by[1] = []*result{trained(8, x.off)}
		if f := r.salvage(folds, Report{}, nil, nil); f.Report.Members[0].KL != x.want {
			t.Errorf("errors of %v: the network is %+v", 1-x.off, f.Report.Members[0].Candidate)
		}
	}
}
