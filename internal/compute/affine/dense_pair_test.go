package affine

import (
	"math"
	"slices"
	"testing"

	"utvi/internal/compute/internal/computetest"
	"utvi/internal/compute/kernel"
)

// What is computed together has the bits of one after the other.
func TestPairsOfDense(t *testing.T) {
	computetest.EachWide(t, func(t *testing.T) {
		x0, w0 := float32(math.Sqrt(3)), float32(1.0/6) // as UT makes them of κ = 2
		xi, w := []float32{0, -x0, x0}, []float32{1 - 2*w0, w0, w0}
		p := kernel.NewLeakyPair(0.01, xi, w)
		for _, rows := range []int{1, 2, 8, 13, 128} {
			layer := func(in, out int) *Dense[float32] {
				d := NewDense[float32](in, out, true, true)
				scratch := make([]float32, max(d.PrepareScratch(), d.Scratch(rows)))
				for tile := range d.PrepareTiles() {
					d.Prepare(tile, computetest.Values[float32](in*out, 1), computetest.Values[float32](in*out, 2), scratch)
				}
				d.PrepareBias(computetest.Values[float32](out, 3), computetest.Values[float32](out, 4))
				return d
			}
			const width = 80
			n := rows * width
			room := func() [2][]float32 { return [2][]float32{make([]float32, n), make([]float32, n)} }
			m := computetest.Values[float32](n, 5)
			v := computetest.Values[float32](n, 6)
			mean := computetest.Values[float32](n, 7)
			for i := range v {
				v[i] *= v[i]
			}
			g, h := computetest.Values[float32](rows, 8), computetest.Values[float32](rows, 9)

			last := layer(width, 1)
			got := room()
			want := room()
			back := room()
			last.Backward(rows, mean, g, h, back[0], back[1], nil)
			kernel.PullPair(p, m, v, back[0], back[1], want[0], want[1], rows)
			last.BackwardPair(p, rows, m, v, mean, g, h, got[0], got[1])
			if !slices.Equal(got[0], want[0]) || !slices.Equal(got[1], want[1]) {
				t.Errorf("%d rows: other bits on the way back through one output", rows)
			}

			first := layer(1, width)
			x, scratch := computetest.Values[float32](rows, 10), make([]float32, max(first.Scratch(rows), first.GradScratch(rows)))
			tapes := [2][]float32{make([]float32, rows*first.TapeWidth()), make([]float32, rows*first.TapeWidth())}
			z := room()
			first.ForwardRecord(tapes[0], rows, x, nil, z[0], z[1], scratch)
			kernel.LeakyThree(kernel.Moments[float32]{Mean: want[0], Var: want[1]}, 0.01, z[0], z[1], xi, w)
			squares, wantSquares := make([]float32, n), make([]float32, n)
			kernel.Square(wantSquares, want[0])
			first.ForwardOuter(p, tapes[1], rows, x, got[0], got[1], squares)
			if !slices.Equal(squares, wantSquares) || !slices.Equal(got[0], want[0]) || !slices.Equal(got[1], want[1]) {
				t.Errorf("%d rows: other bits forward with one input", rows)
			}
			gm, gv := first.TapeGradient(tapes[0], rows)
			kernel.PullPair(p, z[0], z[1], m, mean, gm, gv, 0)
			gm, gv = first.TapeGradient(tapes[1], rows)
			copy(gm, m)
			copy(gv, mean)
			gradients := func() Gradients[float32] {
				return Gradients[float32]{make([]float32, width), make([]float32, width), make([]float32, width), make([]float32, width)}
			}
			a, b := gradients(), gradients()
			first.Gradient(0, []TapeBlock[float32]{{rows, tapes[0]}}, false, true, computetest.Values[float32](width, 1), a, scratch)
			first.GradientOuter(p, []TapeBlock[float32]{{rows, tapes[1]}}, b, scratch)
			for k, x := range [][2][]float32{{a.Mean, b.Mean}, {a.Var, b.Var}, {a.BiasMean, b.BiasMean}, {a.BiasVar, b.BiasVar}} {
				if !slices.Equal(x[0], x[1]) {
					t.Errorf("%d rows: other bits of gradient %d with one input", rows, k)
				}
			}
		}
	})
}
