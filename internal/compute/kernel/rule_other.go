//go:build !amd64 && !arm64

package kernel

import "utvi/internal/compute/internal/cpu"

func pointsVector(m, v, s, x, xi []float32)                             { panic(cpu.Missing) }
func pointsEachVector(m, v, s, x, xi []float32)                         { panic(cpu.Missing) }
func vjpVector(gm, gv []float32, o *Moments[float32], dm, dv []float32) { panic(cpu.Missing) }
func squareVector(dst, x []float32)                                     { panic(cpu.Missing) }
func combineVector(o *Moments[float32], s, f, d, xi, w []float32, ref int, c float32) {
	panic(cpu.Missing)
}
func addSamplesVector(a *Samples[float32], f, d, xi []float32, first bool) { panic(cpu.Missing) }
func samplesMoments(a *Samples[float32], o *Moments[float32], s []float32, w, c float32) {
	panic(cpu.Missing)
}
