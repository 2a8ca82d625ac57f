//go:build !amd64 && !arm64

package affine

import "utvi/internal/compute/internal/cpu"

func forwardOneVector(mo, vo, m, v, columns, bm, bv []float32, rows, width int) { panic(cpu.Missing) }
func backOneVector(dm, dv, m, columns, g, h []float32, rows, width int)         { panic(cpu.Missing) }
func gradOneVector(gw, gs, vh, m, v, g, h []float32, rows, width int, add bool) { panic(cpu.Missing) }
