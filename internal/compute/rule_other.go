//go:build !amd64 && !arm64

package compute

// missing is what a kernel says that only amd64 has.
const missing = "compute: no vector kernels on this machine"

func pointsVector(m, v, s, x, xi []float32)                             { panic(missing) }
func pointsEachVector(m, v, s, x, xi []float32)                         { panic(missing) }
func vjpVector(gm, gv []float32, o *Moments[float32], dm, dv []float32) { panic(missing) }
func squareVector(dst, x []float32)                                     { panic(missing) }
func combineVector(o *Moments[float32], s, f, d, xi, w []float32, ref int, c float32) {
	panic(missing)
}
func addSamplesVector(a *Samples[float32], f, d, xi []float32, first bool) { panic(missing) }
func samplesMoments(a *Samples[float32], o *Moments[float32], s []float32, w, c float32) {
	panic(missing)
}
