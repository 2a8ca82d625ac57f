//go:build !amd64 && !arm64

package affine

import "utvi/internal/compute/internal/cpu"

func (l one) forward(x oneRows, rows int)                  { panic(cpu.Missing) }
func (l one) backward(dm, dv, m, g, h []float32, rows int) { panic(cpu.Missing) }
func (s oneSums) sum(m, v, g, h []float32, rows int, add bool) {
	panic(cpu.Missing)
}
