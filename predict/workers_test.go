package predict_test

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"utvi/predict"
	"utvi/table"
)

// Without a pool, a table is predicted on all cores: two blocks are in work at a time.
func TestStreamOnAllCores(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var begun atomic.Int32
	both := make(chan struct{})
	work := func(*predict.Batch) (int, error) {
		if begun.Add(1) == 2 {
			close(both)
		}
		select {
		case <-both:
			return 0, nil
		case <-ctx.Done(): // nobody else works
			return 0, ctx.Err()
		}
	}
	p := predictor(t, opened(t, resin()), predict.Options{})
	err := predict.Stream(ctx, p, frame(2*table.MaxRows, 3).Rows(nil), nil, work, func(int) error { return nil })
	if err != nil {
		t.Errorf("%d blocks were in work: %v", begun.Load(), err)
	}
	if n := runtime.GOMAXPROCS(0); n != 2 {
		t.Errorf("the program is left with %d of 2 cores", n)
	}
}
