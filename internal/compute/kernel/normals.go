package kernel

import (
	"utvi/internal/compute/internal/cpu"
	"utvi/rng"
)

// Normals fills dst with standard Normals, sample-major: dst[s*n+i] is sample s
// of unit unit+i in the given row of stream k, as rng.Normals defines it. Both
// families give the same bits.
func Normals(dst []float32, k rng.Key, row uint64, unit, n, samples int) {
	NormalsFrom(dst, k, row, unit, n, 0, samples)
}

// NormalsFrom is Normals for the samples first, first+1, …; first is a multiple
// of four.
func NormalsFrom(dst []float32, k rng.Key, row uint64, unit, n, first, samples int) {
	if first < 0 || first%4 != 0 || unit < 0 || n < 0 || samples < 0 || len(dst) < n*samples {
		panic("compute: Normals out of range")
	}
	if cpu.Vector {
		normalsVector(dst, k, row, unit, n, uint32(first/4), samples)
		return
	}
	normalsGo(dst, k, row, unit, n, uint32(first/4), samples)
}

func normalsGo(dst []float32, k rng.Key, row uint64, unit, n int, quad uint32, samples int) {
	for i := range n {
		for s := 0; s < samples; s += 4 {
			z := rng.Normals(k, row, uint32(unit+i), quad+uint32(s/4))
			for j := range min(4, samples-s) {
				dst[(s+j)*n+i] = z[j]
			}
		}
	}
}
