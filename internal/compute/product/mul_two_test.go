package product

import (
	"slices"
	"testing"

	"utvi/internal/compute/internal/computetest"
	"utvi/internal/compute/kernel"
)

// Two products in one kernel have the bits of one after the other, and a left operand in panels of
// columns those of one in rows.
func TestMulTwo(t *testing.T) {
	computetest.EachWide(t, func(t *testing.T) {
		for _, s := range [][3]int{{1, 16, 16}, {2, 32, 40}, {5, 48, 40}, {8, 32, 128}, {20, 16, 33}, {128, 128, 128}, {131, 64, 17}, {19, 16, 32}, {26, 16, 1024}} {
			rows := s[0]
			k := s[1]
			n := s[2]
			ld := n + 3
			a := [2][]float32{computetest.Values[float32](rows*k, 1), computetest.Values[float32](rows*k, 2)}
			b := [2]Right[float32]{NewRight[float32](k, n), NewRight[float32](k, n)}
			var panels [2][]float32
			for x := range 2 {
				b[x].Pack(computetest.Values[float32](k*n, uint64(3+x)), n, 1)
				panels[x] = make([]float32, rows*k)
				for i := range rows {
					for j := range k {
						panels[x][(j/NR*rows+i)*NR+j%NR] = a[x][i*k+j]
					}
				}
			}
			bias, by := computetest.Values[float32](n, 5), computetest.Values[float32](rows*ld, 6)
			compare := func(what string, got, want []float32) {
				if !slices.Equal(got, want) {
					t.Errorf("%d × %d × %d: other bits of %s", rows, k, n, what)
				}
			}
			got, want := make([]float32, rows*ld), make([]float32, rows*ld)
			Mul(To(want, ld).From(bias, 0), Rows(a[0], k), rows, b[0])
			Mul(Onto(want, ld), Rows(a[1], k), rows, b[1])
			MulTwo(To(got, ld).From(bias, 0), a[0], a[1], rows, b[0], b[1])
			compare("mulTwo", got, want)

			clear(got)
			clear(want)
			Mul(To(want, ld), Rows(a[0], k), rows, b[0])
			MulColumnPanels(To(got, ld), panels[0], rows, b[0])
			compare("mulColumnPanels", got, want)
			kernel.TwiceMul(want, by)
			Mul(Onto(want, ld), Rows(a[1], k), rows, b[1])
			clear(got)
			MulColumnPanelsBy(To(got, ld), by, panels[0], panels[1], rows, b[0], b[1])
			for i := range rows { // what lies between the rows stays as it is
				clear(want[i*ld+n : (i+1)*ld])
			}
			compare("mulColumnPanelsBy", got, want)
		}
	})
}

func TestMulStretchesTwo(t *testing.T) {
	computetest.EachWide(t, func(t *testing.T) {
		for _, rows := range []int{1, 2, 3, 8, 12, 26, 97} {
			for _, n := range []int{16, 33, 150} {
				for _, count := range []int{1, 3} {
					const k = 5
					left := (rows + MR - 1) / MR * MR * k
					right := RightLen(k, n)
					ld := n + 2
					var a, b [2]Stretched[float32]
					for x := range 2 {
						a[x] = Stretched[float32]{computetest.Values[float32](count*left, uint64(x)), left, MR * k, MR}
						b[x] = Stretched[float32]{computetest.Values[float32](count*right, uint64(2+x)), right, NR * k, NR}
					}
					by := computetest.Values[float32](rows*ld, 4)
					got, mid := make([]float32, rows*ld), make([]float32, rows*ld)
					MulStretchesTwo(To(got, ld), mid, by, Factors{a[0], b[0]}, Factors{a[1], b[1]}, Extent{Rows: rows, Columns: n, K: k, N: count})
					first, want := make([]float32, rows*ld), make([]float32, rows*ld)
					MulStretches(To(first, ld), a[0], b[0], Extent{Rows: rows, Columns: n, K: k, N: count})
					MulStretchesBy(To(want, ld).From(first, ld), by, a[1], b[1], Extent{Rows: rows, Columns: n, K: k, N: count})
					if !slices.Equal(mid, first) || !slices.Equal(got, want) {
						t.Errorf("%d rows, %d columns, %d stretches: other bits", rows, n, count)
					}
					clear(got)
					copy(got, first)
					kernel.TwiceMul(got, by)
					MulStretches(Onto(got, ld), a[1], b[1], Extent{Rows: rows, Columns: n, K: k, N: count})
					if !slices.Equal(got, want) {
						t.Errorf("%d rows, %d columns, %d stretches: other bits of sums that begin with a product", rows, n, count)
					}
				}
			}
		}
	})
}
