//go:build amd64 || arm64

package kernel

import (
	"math"
	"unsafe"

	"utvi/internal/compute/internal/cpu"
)

// factors are what the kernels need of a: the order is that of gen/optim.
func (a *AdamW) factors(clip, decay float64) [16]float32 {
	pull := clip * a.KL / a.PriorVar
	return [16]float32{
		float32(a.Beta1), float32(1 - a.Beta1), float32(a.Beta2), float32(1 - a.Beta2),
		float32(a.LR / a.C1), float32(1 / math.Sqrt(a.C2)), float32(a.Eps), float32(1 - a.LR*decay),
		float32(clip), float32(2 * clip), float32(pull), float32(clip * a.KL), float32(a.PriorMean),
		float32(math.Log(a.PriorVar)/2 - 0.5), float32(0.5 / a.PriorVar),
		float32(0.5 / math.Sqrt(a.C2)),
	}
}

// chunk is how many numbers go through one kernel after the other. In one loop
// their chains of dependent instructions are longer than a processor looks ahead.
const chunk = 256

// gradients are those of a chunk, and what it leaves for the KL.
type gradients struct{ mean, rho, rest, y [chunk]float32 }

// A place has room for gradients that begin at a cache line. Stacks are aligned to eight
// bytes, and a vector that lies in two lines costs double.
type place [4*chunk + 15]float32

func (p *place) gradients() *gradients {
	skip := -uintptr(unsafe.Pointer(p)) % 64 / 4
	return (*gradients)(unsafe.Pointer(&p[skip]))
}

// set computes the chunk at lo and returns its length, its KL and its squared norm. What the kernels
// behind the first one read is on its way meanwhile: soon are the chunks that the caller reads.
func (g *gradients) set(k *[16]float32, lo int, mu, rho, gmu, gs []float32, soon [4]*float32) (n int, kl, norm2 float64) {
	n = min(chunk, len(mu)-lo)
	gradRhoAsm(&g.rho[0], &g.rest[0], &g.y[0], &rho[lo], &gs[lo], n, k,
		&[6]*float32{&mu[lo], &gmu[lo], soon[0], soon[1], soon[2], soon[3]})
	kl, norm2 = gradMeanAsm(&g.mean[0], &g.rho[0], &g.rest[0], &g.y[0], &mu[lo], &gmu[lo], n, k)
	return n, kl, norm2
}

func stepRandomVector(a *AdamW, t *Tensor[float32]) (kl, norm2 float64) {
	if cpu.Wide {
		return stepRandomWide(a, t)
	}
	k := a.factors(a.Clip, 0)
	mean := a.factors(1, a.DecayMean)
	spread := a.factors(1, a.DecayRho)
	var room place
	g := room.gradients()
	for lo := 0; lo < len(t.Mu); lo += chunk {
		n, x, y := g.set(&k, lo, t.Mu, t.Rho, t.GMu, t.GVar, [4]*float32{&t.M1Mu[lo], &t.M2Mu[lo], &t.M1Rho[lo], &t.M2Rho[lo]})
		kl, norm2 = kl+x, norm2+y
		stepPointAsm(&t.Mu[lo], &g.mean[0], &t.M1Mu[lo], &t.M2Mu[lo], n, &mean)
		stepPointAsm(&t.Rho[lo], &g.rho[0], &t.M1Rho[lo], &t.M2Rho[lo], n, &spread)
	}
	return kl, norm2
}

func klNormVector(a *AdamW, mu, rho, gmu, gs []float32) (kl, norm2 float64) {
	k := a.factors(1, 0)
	var room place
	g := room.gradients()
	for lo := 0; lo < len(mu); lo += chunk {
		_, x, y := g.set(&k, lo, mu, rho, gmu, gs, [4]*float32{&mu[lo], &mu[lo], &mu[lo], &mu[lo]})
		kl, norm2 = kl+x, norm2+y
	}
	return kl, norm2
}

func stepPointVector(a *AdamW, x, g, m1, m2 []float32) {
	k := a.factors(a.Clip, a.DecayMean)
	stepPointAsm(&x[0], &g[0], &m1[0], &m2[0], len(x), &k)
}

func norm2Vector(g []float32) float64 { return norm2Asm(&g[0], len(g)) }

func varianceVector(dst, rho []float32) {
	for lo := 0; lo < len(rho); lo += chunk {
		varianceAsm(&dst[lo], &rho[lo], min(chunk, len(rho)-lo))
	}
}

func varianceSecondVector(s, second, mean, rho []float32) {
	for lo := 0; lo < len(s); lo += chunk {
		varianceSecondAsm(&s[lo], &second[lo], &mean[lo], &rho[lo], min(chunk, len(s)-lo))
	}
}
