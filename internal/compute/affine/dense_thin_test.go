package affine

import (
	"slices"
	"testing"

	"utvi/internal/compute/internal/computetest"
	"utvi/internal/compute/internal/cpu"
)

// A layer of few outputs has the bits that products with panels have.
func TestDenseThin(t *testing.T) {
	computetest.EachFamily(t, func(t *testing.T) {
		for _, s := range [][2]int{{5, 1}, {16, 1}, {53, 1}, {700, 1}, {53, 3}, {700, 4}} {
			const rows = 7
			in, out := s[0], s[1]
			d, panels := NewDense[float32](in, out, true, true), newDense[float32](in, out, true, true, false)
			if thin := d.thin; thin != cpu.Vector {
				t.Fatalf("%d × %d: thin is %v", in, out, thin)
			}
			scratch := make([]float32, max(d.PrepareScratch(), d.Scratch(rows)))
			m, v := computetest.Values[float32](rows*in, 4), computetest.Values[float32](rows*in, 5)
			g, h := computetest.Values[float32](rows*out, 6), computetest.Values[float32](rows*out, 7)
			g[1], h[1] = 0, 0
			h[2] = -h[2]
			var got [2][6][]float32
			for i, d := range []*Dense[float32]{d, panels} {
				for tile := range d.PrepareTiles() {
					d.Prepare(tile, computetest.Values[float32](in*out, 1), computetest.Values[float32](in*out, 2), scratch)
				}
				d.PrepareBias(computetest.Values[float32](out, 3), computetest.Values[float32](out, 8))
				for k, n := range []int{out, out, in, in} {
					got[i][k] = make([]float32, rows*n)
				}
				d.Forward(rows, m, v, got[i][0], got[i][1], scratch)
				d.Backward(rows, m, g, h, got[i][2], got[i][3], scratch)
				o := Gradients[float32]{Mean: make([]float32, in*out), Var: make([]float32, in*out)}
				var blocks []TapeBlock[float32]
				for lo, n := 0, 4; lo < rows; lo, n = lo+n, rows-n {
					tape := make([]float32, n*d.TapeWidth())
					d.RecordInput(tape, n, m[lo*in:][:n*in], v[lo*in:][:n*in])
					d.RecordGradient(tape, n, g[lo*out:][:n*out], h[lo*out:][:n*out])
					blocks = append(blocks, TapeBlock[float32]{n, tape})
				}
				for tile := range d.GradTiles() {
					d.Gradient(tile, blocks, true, true, computetest.Values[float32](in*out, 1), o, make([]float32, d.GradScratch(rows)))
				}
				got[i][4], got[i][5] = o.Mean, o.Var
			}
			for k, name := range []string{"m'", "v'", "∂m", "∂v", "∂w̄", "∂s"} {
				if !slices.Equal(got[0][k], got[1][k]) {
					t.Errorf("%d × %d: %s differs", in, out, name)
				}
			}
		}
	})
}
