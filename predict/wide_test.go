package predict_test

import (
	"context"
	"runtime"
	"slices"
	"testing"
	"time"

	"utvi/fn"
	"utvi/gauss"
	"utvi/model"
	"utvi/nn"
	"utvi/predict"
)

// Rows with many outputs are predicted a few at a time, so that the memory does not grow with rows
// times outputs; the predictions are those of rows alone.
func TestManyOutputs(t *testing.T) {
	const outputs, rows = 30_000, 40
	n, err := model.New(model.Config{Input: nn.Vec(2), Layers: nn.Chain{nn.Dense{Out: 2}, nn.Apply{F: fn.Tanh()}, nn.Dense{Out: outputs}}})
	if err != nil {
		t.Fatal(err)
	}
	m, err := predict.FromEnsemble(&model.Ensemble{Members: []*model.Model{n}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.NewPredictor(predict.Options{Interval: -1})
	if err != nil {
		t.Fatal(err)
	}
	x := gauss.Batch[float32]{Rows: rows, Width: 2, Mean: make([]float32, 2*rows)}
	for i := range x.Mean {
		x.Mean[i] = float32(i) / 10
	}
	var got [rows]float64
	last := func(b *predict.Batch, first int) error {
		for i := range b.Len() {
			got[first+i] = b.Numbers(i)[outputs-1].Mean
		}
		return nil
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := p.Each(context.Background(), x, last); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if taken := after.TotalAlloc - before.TotalAlloc; taken > 64<<20 {
		t.Errorf("%d rows of %d outputs took %d MB", rows, outputs, taken>>20)
	}
	want := slices.Clone(got[:])
	if want[0] == want[1] {
		t.Fatal("all rows have the same prediction, which shows nothing")
	}
	for i := 0; i < rows; i += 7 {
		if err := p.Each(context.Background(), x.Slice(i, i+1), func(b *predict.Batch, _ int) error { return last(b, i) }); err != nil || got[i] != want[i] {
			t.Errorf("row %d: %v among others, %v alone (%v)", i, want[i], got[i], err)
		}
	}
	workers := runtime.NumGoroutine()
	clear(got[:])
	if err := p.EachOn(context.Background(), x, nil, last); err != nil || !slices.Equal(got[:], want) {
		t.Errorf("on all cores: %v\n%v, want\n%v", err, got, want)
	}
	for range 1000 { // workers that were told to end do so when they get to run
		if runtime.NumGoroutine() <= workers {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Errorf("%d goroutines are left of %d", runtime.NumGoroutine(), workers)
}
