package kernel

import (
	"math"
	"slices"
	"testing"

	"utvi/internal/compute/internal/computetest"
	"utvi/rng"
)

func TestNormals(t *testing.T) {
	computetest.EachFamily(t, func(t *testing.T) {
		k := rng.New(11).Sub(3, 1)
		for _, n := range []int{0, 1, 7, 8, 9, 16, 31, 100} {
			for _, samples := range []int{0, 1, 2, 3, 4, 5, 11} {
				const guard = 9
				dst := make([]float32, n*samples+guard)
				for i := range dst {
					dst[i] = -77
				}
				row, unit := uint64(n)<<33|5, 1000*samples
				if n == 31 {
					unit = math.MaxUint32 - 9 // the counter word wraps
				}
				Normals(dst, k, row, unit, n, samples)
				for s := range samples {
					for i := range n {
						want := rng.Normals(k, row, uint32(unit+i), uint32(s/4))[s%4]
						if got := dst[s*n+i]; math.Float32bits(got) != math.Float32bits(want) {
							t.Fatalf("n %d: sample %d of unit %d is %x, want %x", n, s, i, got, want)
						}
					}
				}
				for _, v := range dst[n*samples:] {
					if v != -77 {
						t.Fatalf("n %d, samples %d: written beyond the end", n, samples)
					}
				}
			}
		}
		all, part := make([]float32, 11*21), make([]float32, 3*21)
		Normals(all, k, 7, 5, 21, 11)
		NormalsFrom(part, k, 7, 5, 21, 8, 3)
		if !slices.Equal(part, all[8*21:]) {
			t.Error("samples 8, 9, 10 differ from those drawn with their predecessors")
		}
		dst := make([]float32, 3*67)
		if a := testing.AllocsPerRun(10, func() { Normals(dst, k, 1, 2, 67, 3) }); a != 0 {
			t.Errorf("%g allocations", a)
		}
	})
}

// TestNormalsMany compares a long stretch of the stream bit by bit, so that rare
// words (tails, exponents) are met too.
func TestNormalsMany(t *testing.T) {
	const n = 1 << 18
	dst := make([]float32, 4*n)
	Normals(dst, rng.New(4), 9, 0, n, 4)
	for i := range n {
		for j, want := range rng.Normals(rng.New(4), 9, uint32(i), 0) {
			if got := dst[j*n+i]; math.Float32bits(got) != math.Float32bits(want) {
				t.Fatalf("sample %d of unit %d is %x, want %x", j, i, got, want)
			}
		}
	}
}

func BenchmarkNormals(b *testing.B) {
	for _, s := range []int{3, 4, 16} {
		b.Run([]string{3: "3", 4: "4", 16: "16"}[s], func(b *testing.B) {
			const n = 128
			dst := make([]float32, s*n)
			for i := range b.N {
				Normals(dst, rng.New(1), uint64(i), 0, n, s)
			}
			computetest.PerElement(b, s*n)
		})
	}
}
