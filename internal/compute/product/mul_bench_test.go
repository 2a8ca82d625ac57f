package product

import (
	"fmt"
	"testing"
	"time"
)

// BenchmarkMul reports GFLOP/s and the part of the peak measured in the same
// run. A product of many rows is done in blocks, as layers do it.
func BenchmarkMul(b *testing.B) {
	for _, c := range []struct {
		rows, k, n, block int
		left              string
	}{
		{1024, 128, 128, 96, "rows"}, {90, 128, 128, 90, "rows"}, {91, 128, 128, 91, "rows"},
		{1024, 1024, 1024, 96, "rows"}, {1024, 1024, 1024, 1024, "rows"},
		{1024, 2048, 2048, 96, "rows"}, {1024, 2048, 2048, 1024, "rows"},
		{512, 512, 512, 96, "rows"}, {256, 256, 256, 96, "rows"},
		{128, 1024, 128, 48, "panels"}, {1024, 1024, 1024, 96, "panels"}, {128, 96, 128, 48, "panels"}, {128, 1024, 128, 128, "columns"},
		{96, 128, 1, 96, "rows"}, {96, 2048, 1, 96, "rows"}, {96, 128, 4, 96, "rows"}, {96, 1, 128, 96, "rows"},
		{96, 128, 10, 96, "rows"}, {96, 16, 128, 96, "rows"},
		{1, 128, 128, 1, "rows"}, {1, 256, 256, 1, "rows"}, {1, 1024, 1024, 1, "rows"}, {1, 2048, 2048, 1, "rows"}, {1, 2048, 1, 1, "rows"},
		{2, 128, 128, 2, "rows"}, {5, 128, 128, 5, "rows"},
	} {
		b.Run(fmt.Sprintf("%dx%dx%d/%s/by%d", c.rows, c.k, c.n, c.left, c.block), func(b *testing.B) {
			rs := c.k
			cs := 1
			step := c.k
			if c.left == "columns" {
				rs = 1
				cs = c.rows
				step = 1
			}
			a := make([]float32, (c.rows+MR)*c.k)
			dst := make([]float32, c.rows*c.n)
			right := NewRight[float32](c.k, c.n)
			var best []time.Duration // of each block: other work on the machine comes in bursts
			for b.Loop() {
				for i := 0; i < c.rows; i += c.block {
					t := time.Now()
					rows := min(c.block, c.rows-i)
					if c.left == "panels" {
						Mul(To(dst[i*c.n:], c.n), Panels(a[i*c.k:], right.K), rows, right)
					} else {
						Mul(To(dst[i*c.n:], c.n), Strided(a[i*step:], rs, cs), rows, right)
					}
					d := time.Since(t)
					if n := i / c.block; n == len(best) {
						best = append(best, d)
					} else {
						best[n] = min(best[n], d)
					}
				}
			}
			var total time.Duration
			for _, d := range best {
				total += d
			}
			ops := 2 * float64(c.rows) * float64(c.k) * float64(c.n)
			rate := ops / float64(total.Nanoseconds())
			b.ReportMetric(rate, "GFLOP/s")
			b.ReportMetric(100*rate/PeakGFLOPS(20*time.Millisecond), "%peak")
			if c.rows == 1 {
				b.ReportMetric(4*float64(c.k*c.n)/float64(total.Nanoseconds()), "GB/s")
			}
		})
	}
}
