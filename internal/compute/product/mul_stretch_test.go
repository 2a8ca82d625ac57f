package product

import (
	"slices"
	"testing"

	"utvi/internal/compute"
	"utvi/internal/compute/internal/computetest"
)

func testStretches[T compute.Float](t *testing.T) {
	for _, rows := range []int{1, 2, 5, 8, 25, 101} {
		for _, n := range []int{1, 16, 33, 150} {
			for _, k := range []int{1, 2, 7} {
				for _, count := range []int{2, 5} {
					for _, from := range []string{"nothing", "bias", "dst"} {
						left, right := (rows+MR-1)/MR*MR*k, RightLen(k, n)
						da := left + 3
						db := right + 5
						ldd := n + 2
						wide := RightLen(1, n) // of a row of b, where rows lie as they are
						a, b := computetest.Values[T](count*da, 1), computetest.Values[T](count*db, 2)
						got, want := computetest.Values[T](rows*ldd, 3), computetest.Values[T](rows*ldd, 3)
						start := func(dst []T) (s []T, lds int) {
							switch from {
							case "bias":
								return computetest.Values[T](n, 4), 0
							case "dst":
								return dst, ldd
							}
							return nil, 0
						}
						s, lds := start(got)
						MulStretches(To(got, ldd).From(s, lds), Stretched[T]{a, da, MR * k, MR}, Stretched[T]{b, db, NR * k, NR}, Extent{Rows: rows, Columns: n, K: k, N: count})
						s, lds = start(want)
						for i := range count {
							Mul(To(want, ldd).From(s, lds), Panels(a[i*da:], k), rows, Right[T]{k, n, b[i*db:]})
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
						got = computetest.Values[T](rows*ldd, 3)
						s, lds = start(got)
						MulStretches(To(got, ldd).From(s, lds), Stretched[T]{plainA, rows * k, MR, rows}, Stretched[T]{plainB, wide * k, NR, wide}, Extent{Rows: rows, Columns: n, K: k, N: count})
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
	computetest.EachFamily(t, func(t *testing.T) {
		testStretches[float32](t)
		testStretches[float64](t)
	})
}
