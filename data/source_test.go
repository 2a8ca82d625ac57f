package data_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"utvi/data"
	"utvi/gauss"
	"utvi/rng"
)

func TestTableMisuse(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(-1))
	two := gauss.Fixed(1, []float32{1, 2})
	for _, c := range []struct {
		x       gauss.Batch[float32]
		targets int
		y       []float32
		says    string
	}{
		{gauss.Batch[float32]{}, 1, nil, "0 rows of 0 inputs"},
		{gauss.Batch[float32]{Rows: 2, Width: 2, Mean: make([]float32, 3)}, 1, nil, "need 4 numbers, not 3"},
		{gauss.Batch[float32]{Rows: 2, Width: 1, Mean: two.Mean, Var: []float32{1}}, 1, nil, "2 inputs need 2 variances or none, not 1"},
		{two, 0, nil, "0 targets; at least 1 is needed"},
		{two, 1, []float32{1, 2, 3}, "2 rows of 1 target need 2 numbers, not 3"},
		{two, 2, []float32{1, 2, 3}, "2 rows of 2 targets need 4 numbers, not 3"},
		{gauss.Fixed(2, []float32{1, 2, 3, nan}), 1, []float32{1, 2}, "input 1 of row 1 is NaN"},
		{two, 1, []float32{1, inf}, "target 0 of row 1 is -Inf"},
		{gauss.Batch[float32]{Rows: 2, Width: 1, Mean: two.Mean, Var: []float32{0, -1}}, 1, []float32{1, 2}, "variance of input 0 of row 1 is -1"},
	} {
		if _, err := data.NewTable(c.x, c.targets, c.y); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("error %v, want one with %q", err, c.says)
		}
	}
}

// Every epoch visits each row once, with its own target and variance, though
// batches cross its end.
func TestTableEpochs(t *testing.T) {
	const rows, batch = 7, 5
	x := gauss.New[float32](rows, 1)
	y := make([]float32, rows)
	for i := range rows {
		x.Mean[i] = float32(i)
		x.Var[i] = float32(10 * i)
		y[i] = float32(100 * i)
	}
	table, err := data.NewTable(x, 1, y)
	if err != nil {
		t.Fatal(err)
	}
	var seen []float32
	for step := range uint64(7) {
		in, out := gauss.New[float32](batch, 1), make([]float32, batch)
		table.Begin(rng.New(1), step+1, batch)
		table.Fill(0, 2, in.Slice(0, 2), out[:2])
		table.Fill(2, batch, in.Slice(2, batch), out[2:])
		for i, m := range in.Mean {
			if in.Var[i] != 10*m || out[i] != 100*m {
				t.Fatalf("row %v has variance %v and target %v", m, in.Var[i], out[i])
			}
		}
		seen = append(seen, in.Mean...)
	}
	for e := range batch {
		epoch := slices.Clone(seen[e*rows : (e+1)*rows])
		slices.Sort(epoch)
		if !slices.Equal(epoch, x.Mean) {
			t.Errorf("epoch %d visits %v", e+1, epoch)
		}
	}
}
