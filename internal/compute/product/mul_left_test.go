package product

import (
	"slices"
	"testing"

	"utvi/internal/compute"
	"utvi/internal/compute/internal/computetest"
)

func testPackLeft[T compute.Float](t *testing.T) {
	for _, rows := range []int{1, 2, 7} {
		for _, width := range []int{1, 5, 6, 7, 12, 17, 128} {
			src := computetest.Values[T](rows*width, 3)
			want := make([]T, (width+MR-1)/MR*MR*rows)
			for i := range rows {
				for k := range width {
					want[(k/MR*rows+i)*MR+k%MR] = src[i*width+k]
				}
			}
			room := computetest.Values[T](len(want)+16, 4)
			behind := slices.Clone(room[len(want):])
			dst := room[:len(want)]
			PackLeft(dst, src, rows, width)
			if !slices.Equal(room[len(want):], behind) {
				t.Fatalf("wrote behind %d elements", len(want))
			}
			if !slices.Equal(dst, want) {
				t.Errorf("%d × %d: wrong panels", rows, width)
			}
		}
	}
}

func TestPackLeft(t *testing.T) {
	computetest.EachFamily(t, func(t *testing.T) {
		testPackLeft[float32](t)
		testPackLeft[float64](t)
	})
}

func BenchmarkPackLeft(b *testing.B) {
	const rows, width = 10, 48
	dst, src := make([]float32, rows*width), computetest.Values[float32](rows*width, 1)
	for b.Loop() {
		PackLeft(dst, src, rows, width)
	}
}
