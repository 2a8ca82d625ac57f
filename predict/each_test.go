package predict_test

import (
	"context"
	"errors"
	"math"
	"reflect"
	"testing"

	"utvi/gauss"
	"utvi/internal/compute"
	"utvi/predict"
	"utvi/rng"
)

// Rows that workers predict side by side have the bits of one worker.
func TestEachOn(t *testing.T) {
	m := opened(t, resin())
	p := predictor(t, m, predict.Options{})
	const rows = 9001 // three tasks
	x := gauss.Fixed(m.Inputs(), make([]float32, rows*m.Inputs()))
	for i := range x.Mean {
		x.Mean[i] = float32(rng.Normal(rng.New(1), uint64(i)))
	}
	ctx := context.Background()
	want, err := p.Inputs(ctx, x)
	if err != nil {
		t.Fatal(err)
	}
	pool := compute.NewPool(3)
	defer pool.Close()
	got := make([]predict.Prediction, rows)
	fill := func(b *predict.Batch, first int) error {
		for i := range b.Len() {
			got[first+i] = b.Prediction(i)
		}
		return nil
	}
	if err := p.EachOn(ctx, x, pool, fill); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Error("the predictions differ from those of one worker")
	}

	full := errors.New("full")
	if err := p.EachOn(ctx, x, nil, func(*predict.Batch, int) error { return full }); err != full {
		t.Errorf("the error is %v, want that of visit", err)
	}
	stopped, cancel := context.WithCancel(ctx)
	cancel()
	if err := p.EachOn(stopped, x, pool, fill); err != context.Canceled {
		t.Errorf("the error is %v, want that of the context", err)
	}
	x.Mean[8999*x.Width] = float32(math.Inf(1))
	if err := p.EachOn(ctx, x, pool, fill); err == nil || err.Error() != "row 9000, input 1: +Inf is not a finite number" {
		t.Errorf("the error is %v", err)
	}
}
