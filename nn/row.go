package nn

import (
	"utvi/gauss"
	"utvi/internal/compute"
)

// A row is one row of a batch in float64, for layers that compute in it.
type row struct{ m, v []float64 }

func newRow(n int) row { return row{make([]float64, n), make([]float64, n)} }

// load copies row i of b; without variances they are zero.
func load[T gauss.Float](r row, b gauss.Batch[T], i int) {
	compute.Convert(r.m, b.Mean[i*b.Width:])
	if b.Var == nil {
		clear(r.v)
		return
	}
	compute.Convert(r.v, b.Var[i*b.Width:])
}

// store copies r to row i of b, its variances where b has any.
func store[T gauss.Float](r row, b gauss.Batch[T], i int) {
	compute.Convert(b.Mean[i*b.Width:], r.m)
	if b.Var != nil {
		compute.Convert(b.Var[i*b.Width:], r.v)
	}
}
