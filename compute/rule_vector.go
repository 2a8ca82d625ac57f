package compute

import "utvi/rng"

// assembled guards the kernels below until their assembly lands.
const assembled = false

const missing = "compute: no vector kernels on this machine"

func normalsVector(dst []float32, k rng.Key, row uint64, unit, n, samples int) { panic(missing) }
func pointsVector(m, v, s, x, xi []float32)                                    { panic(missing) }
func pointsEachVector(m, v, s, x, xi []float32)                                { panic(missing) }
func vjpVector(gm, gv []float32, o Moments[float32], dm, dv []float32)         { panic(missing) }
func squareVector(dst, x []float32)                                            { panic(missing) }
func combineVector(o Moments[float32], s, f, d, xi, w []float32, ref int, c float32) {
	panic(missing)
}
func combineEachVector(o Moments[float32], s, f, d, xi []float32, c float32) { panic(missing) }
func stepRandomVector(a *AdamW, mu, rho, gmu, gs, m1mu, m2mu, m1rho, m2rho []float32) {
	panic(missing)
}
func stepPointVector(a *AdamW, x, g, m1, m2 []float32)                     { panic(missing) }
func klNormVector(a *AdamW, mu, rho, gmu, gs []float32) (float64, float64) { panic(missing) }
func norm2Vector(g []float32) float64                                      { panic(missing) }
func varianceVector(dst, rho []float32)                                    { panic(missing) }
