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

// groups cut the units of a row into count groups of size units. Those of a group lie in
// stretches of run units, which are step apart; the next group begins run units further.
type groups struct{ count, size, run, step int }

// unit is the unit of a row that is number i of group g.
func (x groups) unit(g, i int) int { return g*x.run + i/x.run*x.step + i%x.run }

// loadGroup copies group g of row i of b; without variances they are zero.
func loadGroup[T gauss.Float](r row, x groups, b gauss.Batch[T], i, g int) {
	if b.Var == nil {
		clear(r.v)
	}
	for at := 0; at < x.size; at += x.run {
		from := i*b.Width + x.unit(g, at)
		compute.Convert(r.m[at:][:x.run], b.Mean[from:])
		if b.Var != nil {
			compute.Convert(r.v[at:][:x.run], b.Var[from:])
		}
	}
}

// storeGroup copies r to group g of row i of b, its variances where b has any.
func storeGroup[T gauss.Float](r row, x groups, b gauss.Batch[T], i, g int) {
	for at := 0; at < x.size; at += x.run {
		to := i*b.Width + x.unit(g, at)
		compute.Convert(b.Mean[to:][:x.run], r.m[at:])
		if b.Var != nil {
			compute.Convert(b.Var[to:][:x.run], r.v[at:])
		}
	}
}
