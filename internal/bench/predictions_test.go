package bench

import (
	"context"
	"testing"
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
