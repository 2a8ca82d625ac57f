package affine

import (
	"slices"
	"testing"

	"utvi/internal/compute/internal/computetest"
	"utvi/internal/compute/kernel"
	"utvi/internal/compute/product"
)

// What is computed and packed in one kernel has the bits of one after the other.
func TestPrepareTogether(t *testing.T) {
	computetest.EachWide(t, func(t *testing.T) {
		for _, s := range [][2]int{{16, 16}, {48, 128}, {40, 32}, {16, 24}} {
			in, out := s[0], s[1]
			mean, rho := computetest.Values[float32](in*out, 1), computetest.Values[float32](in*out, 2)
			for i := range rho {
				rho[i] = 4*rho[i] - 3
			}
			d := NewDense[float32](in, out, true, true)
			scratch := make([]float32, d.PrepareScratch())
			for tile := range d.PrepareTiles() {
				d.Prepare(tile, mean, rho, scratch)
			}
			vari, second := make([]float32, in*out), make([]float32, in*out)
			kernel.VarianceSecond(vari, second, mean, rho)
			together := d.together
			if together != (out%product.NR == 0) {
				t.Errorf("%d × %d: together %v", in, out, together)
			}
			for i, x := range []struct {
				r, turned product.Right[float32]
				src       []float32
			}{{d.mean, d.meanT, mean}, {d.vari, d.variT, vari}, {d.second, d.secondT, second}} {
				r, turned := product.NewRight[float32](in, out), product.NewRight[float32](out, in)
				r.Pack(x.src, out, 1)
				turned.Pack(x.src, 1, out)
				if !slices.Equal(r.Data, x.r.Data) || !slices.Equal(turned.Data, x.turned.Data) {
					t.Errorf("%d × %d: other bits of matrix %d", in, out, i)
				}
			}
		}
	})
}
