package product

import (
	"runtime"
	"testing"
	"time"

	"utvi/internal/compute"
)

// BenchmarkPoolMul shares a product's blocks of rows among all cores.
func BenchmarkPoolMul(b *testing.B) {
	const rows, block, k, n = 1080, 90, 128, 128
	p := compute.NewPool(runtime.GOMAXPROCS(0))
	defer p.Close()
	a := make([]float32, rows*k)
	dst := make([]float32, rows*n)
	right := NewRight[float32](k, n)
	f := func(_, task int) {
		Mul(To(dst[task*block*n:], n), Rows(a[task*block*k:], k), block, right)
	}
	best := time.Hour
	for b.Loop() {
		t := time.Now()
		p.Run(rows/block, f)
		best = min(best, time.Since(t))
	}
	b.ReportMetric(2*rows*k*n/float64(best.Nanoseconds()), "GFLOP/s")
}
