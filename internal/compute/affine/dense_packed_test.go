package affine

import (
	"slices"
	"testing"

	"utvi/internal/compute/internal/computetest"
	"utvi/internal/compute/kernel"
	"utvi/internal/compute/product"
)

// Wide layers, whose left operands are packed first, have the bits of products that read
// them where they lie.
func TestDensePacked(t *testing.T) {
	computetest.EachFamily(t, func(t *testing.T) {
		for _, s := range [][3]int{{7, 512, 512}, {101, 515, 521}} {
			rows := s[0]
			in := s[1]
			out := s[2]
			d := NewDense[float32](in, out, true, true)
			scratch := make([]float32, max(d.PrepareScratch(), d.Scratch(rows)))
			for tile := range d.PrepareTiles() {
				d.Prepare(tile, computetest.Values[float32](in*out, 1), computetest.Values[float32](in*out, 2), scratch)
			}
			d.PrepareBias(computetest.Values[float32](out, 3), computetest.Values[float32](out, 4))
			m, v := computetest.Values[float32](rows*in, 5), computetest.Values[float32](rows*in, 6)
			g, h := computetest.Values[float32](rows*out, 7), computetest.Values[float32](rows*out, 8)
			room := func() (mo, vo, dm, dv []float32) {
				return make([]float32, rows*out), make([]float32, rows*out), make([]float32, rows*in), make([]float32, rows*in)
			}
			mo, vo, dm, dv := room()
			d.Forward(rows, m, v, mo, vo, scratch)
			d.Backward(rows, m, g, h, dm, dv, scratch)
			fo, _, em, _ := room() // without variances of the inputs
			fixed := make([]float32, rows*out)
			d.Forward(rows, m, nil, fo, fixed, scratch)
			d.Backward(rows, m, g, h, em, nil, scratch)

			mo2, vo2, dm2, dv2 := room()
			d.Squares(rows, m, scratch)
			d.ForwardPart(0, 1, rows, m, v, mo2, vo2, scratch)
			product.Mul(product.To(dm2, in), product.Rows(h, out), rows, d.variT)
			kernel.TwiceMul(dm2, m)
			product.Mul(product.Onto(dm2, in), product.Rows(g, out), rows, d.meanT)
			product.Mul(product.To(dv2, in), product.Rows(h, out), rows, d.secondT)
			fixed2 := make([]float32, rows*out)
			d.Squares(rows, m, scratch)
			d.ForwardPart(0, 1, rows, m, nil, make([]float32, rows*out), fixed2, scratch)
			for i, pair := range [][2][]float32{{mo, mo2}, {vo, vo2}, {dm, dm2}, {dv, dv2}, {fo, mo2}, {fixed, fixed2}, {em, dm2}} {
				if !slices.Equal(pair[0], pair[1]) {
					t.Errorf("%d rows through %d × %d: result %d has other bits", rows, in, out, i)
				}
			}
		}
	})
}
