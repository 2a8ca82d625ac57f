package bench

import (
	"context"
	"math"
	"testing"

	"utvi/engine/gpu"
	"utvi/gauss"
	"utvi/predict"
	"utvi/rng"
)

// Predictions are measured with and without intervals, beside two cores.
func TestPredict(t *testing.T) {
	r, err := Predict(context.Background(), PredictOptions{Rows: 100, steps: 2})
	if err != nil {
		t.Fatal(err)
	}
	if r.Members != 5 || len(r.Ways)%2 != 0 || len(r.Ways) == 0 {
		t.Fatalf("%+v", r)
	}
	for i, w := range r.Ways {
		if !(w.RowsPerSecond > 0) || !(w.Times > 0) || w.Intervals != (i%2 == 1) || i < 2 && (w.Times != 1 || w.Threads != 2) {
			t.Errorf("%+v", w)
		}
	}
}

// A card predicts a table's model with the numbers of the CPU, to rounding: means, standard
// deviations and the ends of intervals.
func TestPredictOnCard(t *testing.T) {
	e, err := gpu.Open("cuda")
	if err != nil {
		t.Skipf("not run: %v", err)
	}
	ctx := context.Background()
	m, err := predictedModel(ctx, 20)
	if err != nil {
		t.Fatal(err)
	}
	const rows = 70
	x := gauss.Fixed(m.Inputs(), make([]float32, rows*m.Inputs()))
	for i := range x.Mean {
		x.Mean[i] = float32(rng.Normal(rng.New(5), uint64(i)))
	}
	numbers := func() (all [rows]predict.Number) {
		p, err := m.NewPredictor(predict.Options{Interval: 0.8})
		if err != nil {
			t.Fatal(err)
		}
		err = p.EachOn(ctx, x, nil, func(b *predict.Batch, first int) error {
			for i := range b.Len() {
				all[first+i] = b.Numbers(i)[0]
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	cpu := numbers()
	if err := m.Use(e); err != nil {
		t.Fatal(err)
	}
	for i, c := range numbers() {
		near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-5*cpu[i].Std }
		if w := cpu[i]; !near(c.Mean, w.Mean) || !near(c.Std, w.Std) || !near(c.Lo, w.Lo) || !near(c.Hi, w.Hi) {
			t.Errorf("row %d: the card predicts %+v, the CPU %+v", i, c, w)
		}
	}
}
