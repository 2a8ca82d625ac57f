package affine

import (
	"fmt"
	"testing"
	"time"

	"utvi/internal/compute/internal/computetest"
)

func BenchmarkPrepare(b *testing.B) {
	for _, n := range []int{128, 512, 2048} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			d := NewDense[float32](n, n, true, true)
			mean, rho := make([]float32, n*n), make([]float32, n*n)
			for i := range rho {
				rho[i] = -3 - float32(i%7)
			}
			scratch := make([]float32, d.PrepareScratch())
			for b.Loop() {
				for tile := range d.PrepareTiles() {
					d.Prepare(tile, mean, rho, scratch)
				}
			}
			computetest.PerElement(b, n*n)
		})
	}
}

// BenchmarkDenseOneRow reports the rate at which w̄ and s are read, the best of many calls,
// over layers that no cache holds together.
func BenchmarkDenseOneRow(b *testing.B) {
	const n = 2048
	var layers [4]*Dense[float32]
	for i := range layers {
		layers[i] = NewDense[float32](n, n, true, false)
		for _, w := range [][]float32{layers[i].mean.Data, layers[i].vari.Data, layers[i].second.Data} {
			for j := range w { // memory that was never written is all the same page
				w[j] = 1
			}
		}
	}
	m := make([]float32, n)
	v := make([]float32, n)
	scratch := make([]float32, n)
	mo, vo := make([]float32, n), make([]float32, n)
	best := time.Duration(1 << 62)
	for b.Loop() {
		for _, d := range layers {
			t := time.Now()
			d.Forward(1, m, v, mo, vo, scratch)
			best = min(best, time.Since(t))
		}
	}
	b.ReportMetric(8*n*n/float64(best.Nanoseconds()), "GB/s")
}
