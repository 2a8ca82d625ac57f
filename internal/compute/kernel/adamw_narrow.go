//go:build !amd64

package kernel

import "utvi/internal/compute/internal/cpu"

func PreparePanels(mean, rho []float32, to, turned [3][]float32, ps, panels int) { panic(cpu.NotWide) }

func stepRandomWide(a *AdamW, t *Tensor[float32]) (kl, norm2 float64) {
	panic(cpu.NotWide)
}
