package affine

import (
	"fmt"
	"slices"
	"testing"

	"utvi/internal/compute/internal/computetest"
	"utvi/internal/compute/product"
)

// Gradients of blocks in one array, several of which a product sums, have the bits of
// those of blocks apart.
func TestGradientStretches(t *testing.T) {
	const rows, follow = 30, 2
	sizes := []int{rows, rows, rows, rows, rows, rows, rows, rows, rows, rows, rows, rows, rows, rows, rows, rows, rows, rows, rows, 11}
	type layer interface {
		TapeWidth() int
		RecordInput(tape []float32, rows int, m, v []float32)
		next(blocks []TapeBlock[float32]) run[float32]
		GradScratch(rows int) int
		GradTiles() int
		Gradient(tile int, blocks []TapeBlock[float32], hasV, hasH bool, mean []float32, o Gradients[float32], scratch []float32)
	}
	gradients := func(d layer, in, out int, together bool) Gradients[float32] {
		total := 0
		for _, n := range sizes {
			total += n
		}
		array := make([]float32, total*d.TapeWidth())
		var blocks []TapeBlock[float32]
		for i, n := range sizes {
			tape := array[:n*d.TapeWidth()]
			array = array[len(tape):]
			if !together {
				tape = make([]float32, len(tape))
			}
			seed := uint64(10 * i)
			d.RecordInput(tape, n, computetest.Values[float32](n*in, seed), computetest.Values[float32](n*in, seed+1))
			g, h := computetest.Values[float32](n*out, seed+2), computetest.Values[float32](n*out, seed+3)
			switch d := d.(type) {
			case *DenseApart[float32]:
				d.RecordApart(tape, n, g, h, computetest.Values[float32](n*out, seed+4))
				d.RecordSense(tape, n, computetest.Values[float32](follow*n*out, seed+5), computetest.Values[float32](follow*n*in, seed+6))
			case *Dense[float32]:
				d.RecordGradient(tape, n, g, h)
			}
			blocks = append(blocks, TapeBlock[float32]{n, tape})
		}
		if n := d.next(blocks).n; together && !(out == 1 && in >= product.NR) && n != gradDepth/rows {
			t.Errorf("one product sums %d blocks of %d rows", n, rows)
		} else if !together && n != 1 {
			t.Errorf("one product sums %d blocks that lie apart", n)
		}
		o := Gradients[float32]{make([]float32, in*out), make([]float32, in*out), make([]float32, out), make([]float32, out)}
		scratch := make([]float32, d.GradScratch(rows))
		for tile := range d.GradTiles() {
			d.Gradient(tile, blocks, true, true, computetest.Values[float32](in*out, 7), o, scratch)
		}
		return o
	}
	computetest.EachFamily(t, func(t *testing.T) {
		for _, s := range [][2]int{{1, 20}, {1, 32}, {53, 1}, {48, 1}, {40, 17}, {97, 131}, {97, 128}, {300, 64}, {50, 272}} {
			for _, apart := range []bool{false, true} {
				t.Run(fmt.Sprint(s, apart), func(t *testing.T) {
					var d layer = NewDense[float32](s[0], s[1], true, true)
					if apart {
						x := NewDenseApart[float32](s[0], s[1], true, true)
						x.Follow(follow)
						d = x
					}
					a, b := gradients(d, s[0], s[1], true), gradients(d, s[0], s[1], false)
					if !slices.Equal(a.Mean, b.Mean) || !slices.Equal(a.Var, b.Var) ||
						!slices.Equal(a.BiasMean, b.BiasMean) || !slices.Equal(a.BiasVar, b.BiasVar) {
						t.Error("the bits depend on where the blocks lie")
					}
				})
			}
		}
	})
}
