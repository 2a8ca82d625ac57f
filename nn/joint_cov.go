package nn

import (
	"utvi/gauss"
	"utvi/internal/compute"
	"utvi/moment"
)

// A covRow is the covariance of one row in float64, and the gradient by it.
type covRow struct {
	tile  *moment.CovTile
	d     int
	c, dc []float64
}

func newCovRow(m *moment.Map, rule moment.JointRule, d int) *covRow {
	return &covRow{moment.NewCovTile(m, rule, d), d, make([]float64, d*d), make([]float64, d*d)}
}

// pull writes the gradients by the row's moments; see moment.CovTile.
func (r *covRow) pull(mean, gm, gv []float64, dx row) {
	r.tile.Pull(mean, r.c, gm, gv, dx.m, r.dc)
	for i := range dx.v {
		dx.v[i] = r.dc[i*(r.d+1)]
	}
}

func loadCov[T gauss.Float](r *covRow, b gauss.Batch[T], i int) {
	compute.Convert(r.c, b.Cov[i*len(r.c):])
}

func storeCov[T gauss.Float](r *covRow, b gauss.Batch[T], i int) {
	compute.Convert(b.Cov[i*len(r.dc):], r.dc)
}

// each shows where the covariances of some units of row i lie, among those of the batch
// and here.
func (r *covRow) each(i, width int, unit func(k int) int, f func(at, k int)) {
	for k := range r.c {
		f((i*width+unit(k/r.d))*width+unit(k%r.d), k)
	}
}
