//go:build !amd64 && !arm64

package kernel

import "utvi/internal/compute/internal/cpu"

func stepRandomVector(a *AdamW, t *Tensor[float32]) (kl, norm2 float64) {
	panic(cpu.Missing)
}
func stepPointVector(a *AdamW, x, g, m1, m2 []float32)                     { panic(cpu.Missing) }
func klNormVector(a *AdamW, mu, rho, gmu, gs []float32) (float64, float64) { panic(cpu.Missing) }
func norm2Vector(g []float32) float64                                      { panic(cpu.Missing) }
func varianceVector(dst, rho []float32)                                    { panic(cpu.Missing) }
func varianceSecondVector(s, second, mean, rho []float32)                  { panic(cpu.Missing) }
