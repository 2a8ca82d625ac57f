package compute

import (
	"fmt"
	"slices"
	"testing"
)

func testStretches[T Float](t *testing.T) {
	for _, rows := range []int{1, 2, 5, 8, 25, 101} {
		for _, n := range []int{1, 16, 33, 150} {
			for _, k := range []int{1, 2, 7} {
				for _, count := range []int{2, 5} {
					for _, from := range []string{"nothing", "bias", "dst"} {
						left, right := ceil(rows, MR)*MR*k, RightLen(k, n)
						da := left + 3
						db := right + 5
						ldd := n + 2
						wide := RightLen(1, n) // of a row of b, where rows lie as they are
						a, b := values[T](count*da, 1), values[T](count*db, 2)
						got, want := values[T](rows*ldd, 3), values[T](rows*ldd, 3)
						start := func(dst []T) (s []T, lds int) {
							switch from {
							case "bias":
								return values[T](n, 4), 0
							case "dst":
								return dst, ldd
							}
							return nil, 0
						}
						s, lds := start(got)
						mulStretches(got, ldd, s, lds, stretched[T]{a, da, MR * k, MR}, rows, stretched[T]{b, db, NR * k, NR}, n, k, count)
						s, lds = start(want)
						for i := range count {
							MulPanels(want, ldd, s, lds, a[i*da:], rows, Right[T]{k, n, b[i*db:]})
							s, lds = want, ldd
						}
						if !slices.Equal(got, want) {
							t.Fatalf("%d rows, %d columns, %d stretches of %d from %s: other bits than products that add to one another",
								rows, n, count, k, from)
						}
						plainA, plainB := make([]T, count*rows*k), make([]T, count*wide*k)
						for c := range count {
							for q := range k {
								for i := range rows {
									plainA[(c*k+q)*rows+i] = a[c*da+(i/MR*k+q)*MR+i%MR]
								}
								for j := range wide {
									plainB[(c*k+q)*wide+j] = b[c*db+(j/NR*k+q)*NR+j%NR]
								}
							}
						}
						got = values[T](rows*ldd, 3)
						s, lds = start(got)
						mulStretches(got, ldd, s, lds, stretched[T]{plainA, rows * k, MR, rows}, rows, stretched[T]{plainB, wide * k, NR, wide}, n, k, count)
						if !slices.Equal(got, want) {
							t.Fatalf("%d rows, %d columns, %d stretches of %d from %s: operands as they are have other bits than panels",
								rows, n, count, k, from)
						}
					}
				}
			}
		}
	}
}

func TestMulStretches(t *testing.T) {
	eachFamily(t, func(t *testing.T) {
		testStretches[float32](t)
		testStretches[float64](t)
	})
}

// Gradients of blocks in one array, several of which a product sums, have the bits of
// those of blocks apart.
func TestGradientStretches(t *testing.T) {
	const rows, follow = 30, 2
	sizes := []int{rows, rows, rows, rows, rows, rows, rows, rows, rows, rows, rows, rows, rows, rows, rows, rows, rows, rows, rows, 11}
	gradients := func(d *Dense[float32], together bool) Gradients[float32] {
		in, out := d.In, d.Out
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
			d.RecordInput(tape, n, values[float32](n*in, seed), values[float32](n*in, seed+1))
			g, h := values[float32](n*out, seed+2), values[float32](n*out, seed+3)
			if d.apart {
				d.RecordApart(tape, n, g, h, values[float32](n*out, seed+4))
				d.RecordSense(tape, n, values[float32](follow*n*out, seed+5), values[float32](follow*n*in, seed+6))
			} else {
				d.RecordGradient(tape, n, g, h)
			}
			blocks = append(blocks, TapeBlock[float32]{n, tape})
		}
		if n, _ := d.stretches(blocks); together && !d.single() && n != gradDepth/rows {
			t.Errorf("one product sums %d blocks of %d rows", n, rows)
		} else if !together && n != 1 {
			t.Errorf("one product sums %d blocks that lie apart", n)
		}
		o := Gradients[float32]{make([]float32, in*out), make([]float32, in*out), make([]float32, out), make([]float32, out)}
		scratch := make([]float32, d.GradScratch(rows))
		for tile := range d.GradTiles() {
			d.Gradient(tile, blocks, true, true, values[float32](in*out, 7), o, scratch)
		}
		return o
	}
	eachFamily(t, func(t *testing.T) {
		for _, s := range [][2]int{{1, 20}, {1, 32}, {53, 1}, {48, 1}, {40, 17}, {97, 131}, {97, 128}, {300, 64}, {50, 272}} {
			for _, apart := range []bool{false, true} {
				t.Run(fmt.Sprint(s, apart), func(t *testing.T) {
					d := NewDense[float32](s[0], s[1], true, true)
					if apart {
						d = NewDenseApart[float32](s[0], s[1], true, true)
						d.Follow(follow)
					}
					a, b := gradients(d, true), gradients(d, false)
					if !slices.Equal(a.Mean, b.Mean) || !slices.Equal(a.Var, b.Var) ||
						!slices.Equal(a.BiasMean, b.BiasMean) || !slices.Equal(a.BiasVar, b.BiasVar) {
						t.Error("the bits depend on where the blocks lie")
					}
				})
			}
		}
	})
}
