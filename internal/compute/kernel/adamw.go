package kernel

import (
	"math"
	"unsafe"

	"utvi/internal/compute"
	"utvi/internal/compute/internal/cpu"
)

// AdamW is one step of AdamW (Loshchilov & Hutter 2019) on parameters under a
// variational objective: what is common to all numbers of a tensor.
type AdamW struct {
	LR, Beta1, Beta2, Eps float64
	C1, C2                float64 // bias corrections 1 − β₁ᵗ and 1 − β₂ᵗ
	DecayMean, DecayRho   float64 // decoupled weight decay
	Clip                  float64 // factor on every gradient, KL included
	KL                    float64 // factor of the KL in the loss
	PriorMean, PriorVar   float64 // μ₀ and σ₀²
}

// A Tensor is a tensor of Normals under training.
type Tensor[T compute.Float] struct {
	Mu, Rho      []T // means, and ρ of the standard deviations softplus(ρ)
	GMu, GVar    []T // gradients of the loss by means and variances
	M1Mu, M2Mu   []T // Adam's moments of the gradient by the means
	M1Rho, M2Rho []T // and of that by ρ
}

// StepRandom updates a tensor of Normals with means μ and standard deviations
// σ = softplus(ρ), given the gradients of the loss with respect to the means
// and the variances s = σ²:
//
//	g_μ = Clip·(gmu + KL·(μ−μ₀)/σ₀²)
//	g_ρ = Clip·sigmoid(ρ)·(2σ·gs + KL·(σ/σ₀² − 1/σ))
//
// m1 and m2 are Adam's moments of the gradients. It returns the KL as KLNorm does,
// before the step, and the sum of the squares of g_μ and g_ρ.
func StepRandom[T compute.Float](a *AdamW, x *Tensor[T]) (kl, norm2 float64) {
	n := len(x.Mu)
	for _, s := range [...][]T{x.Rho, x.GMu, x.GVar, x.M1Mu, x.M2Mu, x.M1Rho, x.M2Rho} {
		if len(s) != n {
			panic("compute: StepRandom lengths differ")
		}
	}
	if cpu.Is32[T]() && cpu.Vector && n > 0 {
		return stepRandomVector(a, (*Tensor[float32])(unsafe.Pointer(x)))
	}
	mean, spread := a.rates(a.DecayMean), a.rates(a.DecayRho)
	for i := range x.Mu {
		m, s := float64(x.Mu[i]), spreadOf(float64(x.Rho[i]))
		gm, gr := a.gradient(m, s, float64(x.GMu[i]), float64(x.GVar[i]))
		gm, gr = a.Clip*gm, a.Clip*gr
		kl += a.klTerm(m, s)
		norm2 += float64(gm*gm) + float64(gr*gr)
		step(&mean, &x.Mu[i], &x.M1Mu[i], &x.M2Mu[i], gm)
		step(&spread, &x.Rho[i], &x.M1Rho[i], &x.M2Rho[i], gr)
	}
	return kl, norm2
}

// StepPoint updates numbers without a distribution: no KL, decay DecayMean.
func StepPoint[T compute.Float](a *AdamW, x, g, m1, m2 []T) {
	n := len(x)
	if len(g) != n || len(m1) != n || len(m2) != n {
		panic("compute: StepPoint lengths differ")
	}
	if cpu.Is32[T]() && cpu.Vector && n > 0 {
		stepPointVector(a, cpu.As32(x), cpu.As32(g), cpu.As32(m1), cpu.As32(m2))
		return
	}
	r := a.rates(a.DecayMean)
	for i := range x {
		step(&r, &x[i], &m1[i], &m2[i], a.Clip*float64(g[i]))
	}
}

// rates are the factors of a step: θ ← keep·θ − rate·m₁ / (√m₂·root + eps).
type rates struct{ keep, rate, root, eps, b1, b2 float64 }

func (a *AdamW) rates(decay float64) rates {
	return rates{1 - float64(a.LR*decay), a.LR / a.C1, 1 / math.Sqrt(a.C2), a.Eps, a.Beta1, a.Beta2}
}

// step moves one number x with moments m1, m2 along gradient g.
func step[T compute.Float](r *rates, x, m1, m2 *T, g float64) {
	a := float64(r.b1*float64(*m1)) + float64((1-r.b1)*g)
	b := float64(r.b2*float64(*m2)) + float64((1-r.b2)*float64(g*g))
	*m1, *m2 = T(a), T(b)
	d := float64(math.Sqrt(b)*r.root) + r.eps
	*x = T(float64(r.keep*float64(*x)) - float64(r.rate*a)/d)
}
