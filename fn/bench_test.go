package fn_test

import "testing"

func BenchmarkExact(b *testing.B) {
	for _, f := range closed() {
		b.Run(f.Name, func(b *testing.B) {
			b.ReportAllocs()
			for i := range b.N {
				f.Exact(0.01*float64(i%400-200), 0.7)
			}
		})
	}
}
