//go:build !amd64 && !arm64

package compute

func forwardOneVector(mo, vo, m, v, columns, bm, bv []float32, rows, width int) { panic(missing) }
func backOneVector(dm, dv, m, columns, g, h []float32, rows, width int)         { panic(missing) }
func gradOneVector(gw, gs, vh, m, v, g, h []float32, rows, width int, add bool) { panic(missing) }
