package compute

import "math"

// factors are what the kernels need of a: the order is that of gen/optim.
func (a *AdamW) factors(clip float64) [16]float32 {
	pull := clip * a.KL / a.PriorVar
	return [16]float32{
		float32(a.Beta1), float32(1 - a.Beta1), float32(a.Beta2), float32(1 - a.Beta2),
		float32(a.LR / a.C1), float32(1 / math.Sqrt(a.C2)), float32(a.Eps),
		float32(1 - a.LR*a.DecayMean), float32(1 - a.LR*a.DecayRho),
		float32(clip), float32(2 * clip), float32(pull), float32(clip * a.KL), float32(a.PriorMean),
		float32(math.Log(a.PriorVar)/2 - 0.5), float32(0.5 / a.PriorVar),
	}
}

func stepRandomVector(a *AdamW, mu, rho, gmu, gs, m1mu, m2mu, m1rho, m2rho []float32) (kl, norm2 float64) {
	k := a.factors(a.Clip)
	return stepRandomAVX2(&mu[0], &rho[0], &gmu[0], &gs[0], &m1mu[0], &m2mu[0], &m1rho[0], &m2rho[0], len(mu), &k)
}

func stepPointVector(a *AdamW, x, g, m1, m2 []float32) {
	k := a.factors(a.Clip)
	stepPointAVX2(&x[0], &g[0], &m1[0], &m2[0], len(x), &k)
}

func klNormVector(a *AdamW, mu, rho, gmu, gs []float32) (kl, norm2 float64) {
	k := a.factors(1)
	return klNormAVX2(&mu[0], &rho[0], &gmu[0], &gs[0], len(mu), &k)
}

func norm2Vector(g []float32) float64 { return norm2AVX2(&g[0], len(g)) }

func varianceVector(dst, rho []float32) { varianceAVX2(&dst[0], &rho[0], len(rho)) }
