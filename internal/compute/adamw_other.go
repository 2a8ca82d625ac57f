//go:build !amd64 && !arm64

package compute

func stepRandomVector(a *AdamW, mu, rho, gmu, gs, m1mu, m2mu, m1rho, m2rho []float32) (kl, norm2 float64) {
	panic(missing)
}
func stepPointVector(a *AdamW, x, g, m1, m2 []float32)                     { panic(missing) }
func klNormVector(a *AdamW, mu, rho, gmu, gs []float32) (float64, float64) { panic(missing) }
func norm2Vector(g []float32) float64                                      { panic(missing) }
func varianceVector(dst, rho []float32)                                    { panic(missing) }
func varianceSecondVector(s, second, mean, rho []float32)                  { panic(missing) }
