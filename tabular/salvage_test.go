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
	// trained is a network after some steps, scored at its stops.
	trained := func(steps int, held ...float64) *result {
		m, _, err := r.candidate[0].net(d, 1)
		if err != nil {
			t.Fatal(err)
		}
		x := &result{net: m, step: steps}
		for _, h := range held {
			x.log.Curve = append(x.log.Curve, Point{Held: h})
		}
		return x
	}
	of := func(results ...*result) []fold {
		f := fold{by: make([][]*result, len(results))}
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
