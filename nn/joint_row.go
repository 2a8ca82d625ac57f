package nn

import (
	"utvi/compute"
	"utvi/gauss"
)

// A row is one row of a batch in float64, for layers that compute in it.
type row struct{ m, v []float64 }

func newRow(n int) row { return row{make([]float64, n), make([]float64, n)} }

// load copies row i of b; without variances they are zero.
func load[T compute.Float](r row, b gauss.Batch[T], i int) {
	widen(r.m, b.Mean[i*b.Width:])
	if b.Var == nil {
		clear(r.v)
		return
	}
	widen(r.v, b.Var[i*b.Width:])
}

// store copies r to row i of b, its variances where b has any.
func store[T compute.Float](r row, b gauss.Batch[T], i int) {
	narrow(b.Mean[i*b.Width:], r.m)
	if b.Var != nil {
		narrow(b.Var[i*b.Width:], r.v)
	}
}

func widen[T compute.Float](dst []float64, src []T) {
	for i := range dst {
		dst[i] = float64(src[i])
	}
}

func narrow[T compute.Float](dst []T, src []float64) {
	for i, x := range src {
		dst[i] = T(x)
	}
}

// columns sums the tapes of all blocks over their rows, in row order, and hands
// each of the width sums to set.
func columns[T compute.Float](blocks []Block[T], width int, set func(i int, sum float64)) {
	for i := range width {
		var sum float64
		for _, b := range blocks {
			for j := i; j < b.Rows*width; j += width {
				sum += float64(b.Tape[j])
			}
		}
		set(i, sum)
	}
}
