package compute

import (
	"fmt"
	"testing"
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
			perElement(b, n*n)
		})
	}
}
