package kernel

import (
	"utvi/internal/compute/internal/cpu"
	"utvi/rng"
)

func normalsVector(dst []float32, k rng.Key, row uint64, unit, n int, quad uint32, samples int) {
	groups := n / cpu.Lanes()
	full := groups * cpu.Lanes()
	var tail [4][16]float32
	for s := 0; s < samples; s += 4 {
		p := rng.Rounds(k, row, quad+uint32(s/4))
		m := min(4, samples-s)
		if groups > 0 {
			// A plane that is not wanted points at the first: the kernel
			// writes that one last.
			d := [4]*float32{&dst[s*n]}
			for j := 1; j < 4; j++ {
				d[j] = d[0]
				if j < m {
					d[j] = &dst[(s+j)*n]
				}
			}
			normalsQuad(d[0], d[1], d[2], d[3], groups, uint32(unit), &p)
		}
		if full < n {
			normalsQuad(&tail[0][0], &tail[1][0], &tail[2][0], &tail[3][0], 1, uint32(unit+full), &p)
			for j := range m {
				copy(dst[(s+j)*n+full:(s+j+1)*n], tail[j][:])
			}
		}
	}
}
