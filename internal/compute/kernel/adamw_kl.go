package kernel

import (
	"math"

	"utvi/internal/compute"
	"utvi/internal/compute/internal/cpu"
)

// KLNorm returns, in float64, the KL of a tensor of Normals from its prior,
//
//	Σ ln(σ₀/σ) + (σ² + (μ−μ₀)²)/2σ₀² − ½
//
// and the sum of the squares of the gradients that StepRandom would take with
// Clip = 1. The order of the sums is fixed.
func KLNorm[T compute.Float](a *AdamW, mu, rho, gmu, gs []T) (kl, norm2 float64) {
	n := len(mu)
	if len(rho) != n || len(gmu) != n || len(gs) != n {
		panic("compute: KLNorm lengths differ")
	}
	if cpu.Is32[T]() && cpu.Vector && n > 0 {
		return klNormVector(a, cpu.As32(mu), cpu.As32(rho), cpu.As32(gmu), cpu.As32(gs))
	}
	for i := range mu {
		m, s := float64(mu[i]), spreadOf(float64(rho[i]))
		gm, gr := a.gradient(m, s, float64(gmu[i]), float64(gs[i]))
		norm2 += float64(gm*gm) + float64(gr*gr)
		kl += a.klTerm(m, s)
	}
	return kl, norm2
}

// klTerm is the KL of one number with mean m and spread s.
func (a *AdamW) klTerm(m float64, s spread) float64 {
	d := m - a.PriorMean
	return (float64(s.sigma*s.sigma)+float64(d*d))/(2*a.PriorVar) + (float64(math.Log(a.PriorVar)/2) - s.ln) - 0.5
}

// Norm2 returns Σ g² in float64, summed in a fixed order.
func Norm2[T compute.Float](g []T) float64 {
	if cpu.Is32[T]() && cpu.Vector && len(g) > 0 {
		return norm2Vector(cpu.As32(g))
	}
	var sum float64
	for _, g := range g {
		sum += float64(float64(g) * float64(g))
	}
	return sum
}

// Variance writes dst = softplus(ρ)², to full relative accuracy for ρ ≪ 0 too.
func Variance[T compute.Float](dst, rho []T) {
	if len(dst) != len(rho) {
		panic("compute: Variance lengths differ")
	}
	if cpu.Is32[T]() && cpu.Vector && len(dst) > 0 {
		varianceVector(cpu.As32(dst), cpu.As32(rho))
		return
	}
	for i, r := range rho {
		s := spreadOf(float64(r)).sigma
		dst[i] = T(s * s)
	}
}

// VarianceSecond writes s = softplus(ρ)² and second = mean² + s, as Variance, Square and
// Add would.
func VarianceSecond[T compute.Float](s, second, mean, rho []T) {
	n := len(s)
	if len(second) != n || len(mean) != n || len(rho) != n {
		panic("compute: VarianceSecond lengths differ")
	}
	if cpu.Is32[T]() && cpu.Vector && n > 0 {
		varianceSecondVector(cpu.As32(s), cpu.As32(second), cpu.As32(mean), cpu.As32(rho))
		return
	}
	Variance(s, rho)
	for i, m := range mean {
		second[i] = T(m*m) + s[i]
	}
}

// spread is all that a step needs of ρ.
type spread struct {
	sigma float64 // σ = softplus(ρ)
	slope float64 // sigmoid(ρ) = ∂σ/∂ρ
	ratio float64 // sigmoid(ρ)/σ = ∂ ln σ/∂ρ, 1 for ρ → −∞
	ln    float64 // ln σ
}

// spreadOf works with e = exp(−|ρ|) and h = ln(1+e)/e, which tends to 1 where e
// vanishes: nothing is divided by an underflowing σ.
func spreadOf(rho float64) spread {
	e := math.Exp(-math.Abs(rho))
	h := 1.0
	if e > 0 {
		h = math.Log1p(e) / e
	}
	if rho < 0 {
		return spread{e * h, e / (1 + e), 1 / (float64(e*h) + h), rho + math.Log(h)}
	}
	s := rho + float64(e*h)
	return spread{s, 1 / (1 + e), 1 / (s + float64(s*e)), math.Log(s)}
}

// gradient adds the gradient of the KL to that of the loss, for one number with
// mean m and spread s.
func (a *AdamW) gradient(m float64, s spread, gmu, gs float64) (gm, gr float64) {
	k := a.KL / a.PriorVar
	gm = gmu + float64(k*(m-a.PriorMean))
	gr = float64(float64(s.slope*s.sigma)*(float64(2*gs)+k)) - float64(a.KL*s.ratio)
	return gm, gr
}
