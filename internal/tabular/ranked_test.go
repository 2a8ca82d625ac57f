package tabular_test

import (
	"math"
	"testing"

	"utvi/data"
	"utvi/gauss"
	"utvi/internal/tabular"
	"utvi/rng"
)

// grades are those of a number behind them, a line of two inputs, with noise; of eight inputs in all.
func grades(seed uint64, rows int, ordered bool) tabular.Data {
	key := rng.New(seed)
	const inputs = 8
	d := tabular.Data{Set: data.Set{X: gauss.Fixed(inputs, make([]float32, inputs*rows)), Y: make([]float32, rows), Targets: 1}, Classes: 5}
	for i := range d.X.Mean {
		d.X.Mean[i] = float32(rng.Normal(key, uint64(i)))
	}
	for i := range rows {
		x := d.X.Mean[i*inputs:]
		z := 1.5*float64(x[0]-x[1]) + rng.Normal(key.Sub(1, 0), uint64(i))
		d.Y[i] = float32(min(4, max(0, math.Round(z+2))))
	}
	if ordered {
		d.Ranks = tabular.RanksOf([]float64{1, 2, 3, 4, 5})
	}
	return d
}

// Grades are more probable in order than as any classes, where few rows show them.
func TestRankedClasses(t *testing.T) {
	c := quick
	c.Noise = ""
	c.Bins = -1
	var ll [2]float64
	test := grades(9, 2000, false)
	for i, ordered := range []bool{false, true} {
		f := fit(t, c, grades(1, 150, ordered))
		p := predictor(f, 2000).Predict(test.X)
		for r, y := range test.Y {
			ll[i] += math.Log(float64(p.Mean[r*5+int(y)])) / 2000
		}
		if ordered && !f.Report.Members[0].Ranked {
			t.Errorf("the members are %v; classes are in order", f.Report.Members[0].Candidate)
		}
	}
	if ll[1] < ll[0]+0.03 {
		t.Errorf("ln p is %.3f in order, %.3f as any classes", ll[1], ll[0])
	}
	if tabular.RanksOf([]float64{0, 1}) != nil || tabular.RanksOf(make([]float64, 13)) != nil {
		t.Error("two classes, or thirteen, have ranks")
	}
}
