package tabular

import (
	"math"
	"slices"
	"testing"

	"utvi/data"
	"utvi/gauss"
	"utvi/internal/compute"
	"utvi/model"
	"utvi/rng"
)

// In a small wide table, rows like those of training have a small ood, and others do not.
func TestOODOfWideTables(t *testing.T) {
	t.Run("30 inputs", func(t *testing.T) { wideOOD(t, 60, 30, 0.9) })
	t.Run("many inputs", func(t *testing.T) { wideOOD(t, 60, mostCoupled+10, 1) })
}

func wideOOD(t *testing.T, n, w int, bound float32) {
	rows := func(seed uint64, n int, scale float64) Data {
		key := rng.New(seed)
		x, y := make([]float32, n*w), make([]float32, n)
		for i := range x {
			x[i] = float32(scale * rng.Normal(key, uint64(i)))
		}
		for i := range y {
			y[i] = x[i*w] + 0.3*float32(rng.Normal(key, uint64(1<<40+i)))
		}
		return Data{Set: data.Set{X: gauss.Fixed(w, x), Y: y}}
	}
	c := quick
	c.Steps = 200
	f, err := Fit(t.Context(), c, rows(41, n, 1), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	p := f.NewPredictor(nil, 1000)
	ood := func(d Data) (median, high float32) {
		u := slices.Sorted(slices.Values(p.Predict(d.X).OOD))
		return u[len(u)/2], u[len(u)*97/100]
	}
	median, most := ood(rows(42, 1000, 1))
	strange, _ := ood(rows(43, 1000, 3))
	t.Logf("new rows: %.2f in the median, 97 %% below %.2f; strange ones %.2f", median, most, strange)
	if median > bound || most > 1.3 || strange < 1.5 {
		t.Errorf("new rows have an ood of %.2f in the median, 97 %% below %.2f, strange ones by %.2f", median, most, strange)
	}
}

// leaveOut gives the distances from the other rows.
func TestLeaveOut(t *testing.T) {
	const n, w = 40, 5
	key := rng.New(44)
	x := gauss.Fixed(w, make([]float32, n*w))
	for i := range x.Mean {
		x.Mean[i] = float32(rng.Normal(key, uint64(i)))
	}
	distance := func(from gauss.Batch[float32], row []float32) float64 {
		mean, narrow := make([]float64, w), make([]float32, w)
		for i, v := range from.Mean {
			mean[i%w] += float64(v) / float64(from.Rows)
		}
		compute.Convert(narrow, mean)
		m := InputStats{Mean: narrow, Root: inverseRoot(covariance(from, mean)), Distance: 1, Doubt: math.Inf(1)}.measure(1)
		p := &Predictions{Predictions: &model.Predictions{Rows: 1, Width: 1, Weights: make([]float32, 1)}, OOD: make([]float32, 1)}
		m.ood(gauss.Fixed(w, row), p)
		return m.distance(0)
	}
	var got, want []float64
	for i := range n {
		row := x.Mean[i*w : (i+1)*w]
		got = append(got, distance(x, row))
		rest := slices.Concat(x.Mean[:i*w], x.Mean[(i+1)*w:])
		want = append(want, distance(gauss.Fixed(w, rest), row))
	}
	leaveOut(got, n, 1)
	for i := range got {
		if math.Abs(got[i]/want[i]-1) > 0.01 {
			t.Errorf("row %d is %v from the others, want %v", i, got[i], want[i])
		}
	}
}
