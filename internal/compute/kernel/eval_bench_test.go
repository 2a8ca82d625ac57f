package kernel

import (
	"testing"
	"time"
)

// BenchmarkEval reports ns per element of the best short window, data in L1 and
// in an ordinary range.
func BenchmarkEval(b *testing.B) {
	const n = 1024
	x := make([]float32, n)
	f := make([]float32, n)
	df := make([]float32, n)
	for _, e := range exacts() {
		for _, slope := range []bool{false, true} {
			name, d := e.name()+"/value", []float32(nil)
			if slope {
				name, d = e.name()+"/slope", df
			}
			b.Run(name, func(b *testing.B) {
				for i := range x {
					x[i] = 8*float32(i*37%n)/n - 4
				}
				bestWindow(b, n, func() { Eval(e.op, e.a, x, f, d) })
			})
		}
	}
}

func BenchmarkLeakyMoments(b *testing.B) {
	const n = 512
	var p [8][]float32
	for i := range p {
		p[i] = make([]float32, n)
	}
	for i := range n {
		p[0][i], p[1][i] = 8*float32(i*37%n)/n-4, 0.5+float32(i%7)
	}
	b.Run("value", func(b *testing.B) {
		bestWindow(b, n, func() { LeakyMoments(Moments[float32]{Mean: p[2], Var: p[3]}, 0.01, p[0], p[1]) })
	})
	b.Run("jacobian", func(b *testing.B) {
		bestWindow(b, n, func() {
			LeakyMoments(Moments[float32]{Mean: p[2], Var: p[3], MM: p[4], MV: p[5], VM: p[6], VV: p[7]}, 0.01, p[0], p[1])
		})
	})
}

// bestWindow times runs of 32 calls and reports the fastest: on a busy machine
// the mean says more about the neighbours.
func bestWindow(b *testing.B, n int, f func()) {
	const calls = 32
	best := time.Duration(1 << 62)
	for b.Loop() {
		start := time.Now()
		for range calls {
			f()
		}
		best = min(best, time.Since(start))
	}
	b.ReportMetric(float64(best.Nanoseconds())/float64(calls*n), "ns/elem")
	b.ReportMetric(0, "ns/op")
}
