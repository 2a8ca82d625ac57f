package tabular

import (
	"math"
	"testing"

	"utvi/gauss"
	"utvi/model"
	"utvi/rng"
)

// Beyond the inputs whose covariance is kept, columns are measured one by one.
func TestUsualOfManyInputs(t *testing.T) {
	const n, w = 50, mostCoupled + 1
	x := gauss.Fixed(w, make([]float32, n*w))
	key := rng.New(3)
	mean := make([]float64, w)
	for i := range x.Mean {
		x.Mean[i] = float32(float64(i%w%3) + float64(1+i%w%2)*rng.Normal(key, uint64(i)))
		mean[i%w] += float64(x.Mean[i]) / n
	}
	inv := inverseSpread(x, mean)
	var trace float64
	v := make([]float64, w)
	for i, m := range x.Mean {
		v[i%w] += (float64(m) - mean[i%w]) * (float64(m) - mean[i%w]) / n
	}
	for _, v := range v {
		trace += v
	}
	for j, got := range inv {
		if want := 1 / math.Sqrt(v[j]+0.01*trace/w); math.Abs(float64(got)/want-1) > 1e-6 {
			t.Errorf("column %d: %v, want %v", j, got, want)
		}
	}
	f := InputStats{Mean: make([]float32, w), Inv: inv, Distance: 2, Doubt: 4}
	for j, m := range mean {
		f.Mean[j] = float32(m)
	}
	if err := f.check(w); err != nil {
		t.Fatal(err)
	}
	p := &Predictions{Predictions: &model.Predictions{Rows: n, Width: 1, Weights: make([]float32, n)}, OOD: make([]float32, n)}
	p.Weights[7] = 1e6
	m := f.measure(n)
	m.ood(x, p)
	for i, got := range p.OOD {
		var d float64
		for j := range w {
			z := (float64(x.Mean[i*w+j]) - mean[j]) * float64(inv[j])
			d += z * z
		}
		want := math.Sqrt(d) / 2
		if i == 7 {
			want = 1e3 / 4
		}
		if math.Abs(float64(got)/want-1) > 1e-5 {
			t.Errorf("the ood of row %d is %v, want %v", i, got, want)
		}
	}
}

func TestInputStatsCheck(t *testing.T) {
	ok := func() InputStats {
		return InputStats{Mean: make([]float32, 2), Root: make([]float32, 4), Distance: 1, Doubt: 1}
	}
	if err := ok().check(2); err != nil {
		t.Fatal(err)
	}
	for what, change := range map[string]func(u *InputStats){
		"mean": func(u *InputStats) { u.Mean = u.Mean[:1] }, "root": func(u *InputStats) { u.Root = u.Root[:3] }, "both": func(u *InputStats) { u.Inv = make([]float32, 2) },
		"neither": func(u *InputStats) { u.Root = nil }, "distance": func(u *InputStats) { u.Distance = 0 }, "doubt": func(u *InputStats) { u.Doubt = math.NaN() },
		"diagonal": func(u *InputStats) { u.Root, u.Inv = nil, make([]float32, 3) },
	} {
		u := ok()
		change(&u)
		if u.check(2) == nil {
			t.Errorf("%s was accepted", what)
		}
	}
}

func TestHigh(t *testing.T) {
	x := make([]float64, 1001)
	for i := range x {
		x[i] = float64((i * 8) % 1001)
	}
	if got := high(x); got != 990 {
		t.Errorf("the 99 %% quantile of 0 … 1000 is %v", got)
	}
	if high([]float64{0, 0}) <= 0 || high([]float64{3}) != 3 {
		t.Error("of few or none")
	}
}

// The doubt is that of the worst target, or of all classes.
func TestDoubt(t *testing.T) {
	v := &Predictions{Predictions: &model.Predictions{Rows: 2, Width: 2, Weights: []float32{1, 9, 4, 0}}}
	if v.doubt(0) != 3 || v.doubt(1) != 2 {
		t.Errorf("doubts %v and %v, want 3 and 2", v.doubt(0), v.doubt(1))
	}
	v.Classes = true
	if math.Abs(v.doubt(0)-math.Sqrt(10)) > 1e-12 || v.doubt(1) != 2 {
		t.Errorf("doubts %v and %v, want √10 and 2", v.doubt(0), v.doubt(1))
	}
}

// Stops are equally spaced, the last at the end.
func TestStops(t *testing.T) {
	for i, want := range []int{0: 1, 1: 100, 4: 400, 8: 800} {
		if want != 0 && stop(i, 800) != want {
			t.Errorf("stop %d of 800 steps is %d, want %d", i, stop(i, 800), want)
		}
	}
	if stop(1, 3) != 1 || stop(8, 3) != 3 {
		t.Errorf("stops of 3 steps: %d to %d", stop(1, 3), stop(8, 3))
	}
}
