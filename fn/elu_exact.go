package fn

import (
	"math"

	"utvi/internal/special"
	"utvi/moment"
)

// The moments of the ELU f are those of a Gaussian cut at 0. On the far side of
// the mean x = ∓σs with density φ(z)·w(s), w(s) = exp(−|z|s − s²/2), so every
// term is an integral over w, and each side is written so that none cancels:
// around the identity above 0, around the lognormal below. In both,
//
//	∂mean/∂m = E f′     ∂mean/∂v = E f″/2
//	∂var/∂m = 2Cov(f, f′)    ∂var/∂v = E f′² + Cov(f, f″)
//
// with f′ = 1 or αeˣ and f″ = αeˣ·[x<0] + (1−α)δ(x).

// eluAbove is the case m ≥ 0: f = x + r(x), r = αexpm1(x) − x on x < 0, and
// Cov(x, r) = v·E r′ (Stein).
func eluAbove(m, v, alpha float64) moment.Jet {
	sd := math.Sqrt(v)
	p := special.PDF(m / sd)
	if p == 0 {
		return identityMoments(m, v)
	}
	z, beta := m/sd, 1-alpha
	i := special.Tail(z)
	c := newCutExp(z, sd)
	m1 := special.Mills(z + sd)
	e1 := p * m1 // E[eˣ; x<0]
	e2 := p * special.Mills(z+2*sd)

	r := p * (beta*sd*i.I1 + alpha*c.g1)
	// E r² with r = βσs + α(σs − c)
	s2 := 2 * i.I2 * v
	rr := p * (beta*beta*s2 + 2*alpha*beta*(s2-sd*c.s1) + alpha*alpha*(s2-2*sd*c.s1+c.d2))
	mean := m + r
	less := p * (beta*i.I0 + alpha*c.d1) // 1 − E f′
	bend := alpha*e1 + beta*p/sd         // E f″
	return moment.Jet{
		Mean: mean, Var: v*(1-2*less) + rr - r*r,
		MeanByMean: 1 - less, MeanByVar: bend / 2,
		VarByMean: 2 * (p*alpha*(beta*c.d1+alpha*c.d2) + mean*less),
		VarByVar:  1 - p*i.I0 + alpha*alpha*(e2-p*(c.d1-c.d2)) - mean*bend,
	}
}

// eluBelow is the case m < 0. With g = f + α, which is αeˣ below 0 and x + α
// above, E g and E g² are sums of positive terms; for small σ, where their
// difference would cancel, f = αexpm1(x) + r(x) with r = x − αexpm1(x) on x > 0.
func eluBelow(m, v, alpha float64) moment.Jet {
	sd := math.Sqrt(v)
	y, beta := -m/sd, 1-alpha
	var p float64
	var i special.TailIntegrals
	if !math.IsInf(y, 1) {
		p, i = special.PDF(y), special.Tail(y)
	}
	e1 := expBelow(m, sd, y, 1, p)
	e2 := expBelow(m, sd, y, 2, p)
	s2 := 2 * i.I2 * v

	var g, mean, variance float64 // g is E g
	if sd > 0.5 {
		g = alpha*e1 + p*(sd*i.I1+alpha*i.I0)
		mean = g - alpha
		variance = alpha*alpha*e2 + p*(s2+2*alpha*sd*i.I1+alpha*alpha*i.I0) - g*g
	} else {
		full := math.Expm1(m + v/2)
		var r, rr, er float64 // E r, E r², E[expm1(x)·r]
		if p > 0 {
			c := newCutExp(y, -sd)
			r = p * (beta*sd*i.I1 - alpha*c.g1)
			rr = p * (s2 + 2*alpha*sd*c.s1 + alpha*alpha*c.d2)
			er = p * (-sd*c.s1 - alpha*c.d2)
		}
		mean = alpha*full + r
		g = alpha*(full+1) + r
		variance = alpha*alpha*math.Exp(2*m+v)*math.Expm1(v) + 2*alpha*(er-full*r) + rr - r*r
	}
	bend := alpha*e1 + beta*p/sd
	return moment.Jet{
		Mean: mean, Var: variance,
		MeanByMean: p*i.I0 + alpha*e1, MeanByVar: bend / 2,
		VarByMean: 2 * (variance - p*s2 + p*beta*sd*i.I1 + mean*p*(sd*i.I1-beta*i.I0)),
		VarByVar:  p*i.I0 + alpha*(2*alpha*e2-g*e1) - mean*beta*p/sd,
	}
}

// expBelow is E[e^{kx}; x<0] = e^{km+k²v/2}·Φ(y−kσ) for a mean m = −yσ, where
// the lower tail of Φ takes up the growing exponential: it is φ(y)·M(kσ−y).
func expBelow(m, sd, y, k, p float64) float64 {
	if k*sd > y {
		return p * special.Mills(k*sd-y)
	}
	return math.Exp(k*m+k*k*sd*sd/2) * special.CDF(y-k*sd)
}

// A cutExp holds integrals over w(s) = exp(−ys − s²/2), s > 0, of
// c(s) = 1 − e^{−τs}: d1 = ∫cw, d2 = ∫c²w, s1 = ∫scw and g1 = ∫(τs−c)w.
type cutExp struct{ d1, d2, s1, g1 float64 }

// newCutExp takes them as differences of the Mills ratio M = I₀ and of I₁, or
// for |τ| ≤ ½, where those cancel, from their series in τ,
//
//	∫ sᵏ/k! w ds = Iₖ(y)
func newCutExp(y, tau float64) cutExp {
	if tau > 0.5 {
		a, b := special.Tail(y), special.Tail(y+tau)
		d1 := a.I0 - b.I0
		return cutExp{
			d1: d1,
			d2: special.Mills(y+2*tau) - b.I0 + d1,
			s1: a.I1 - b.I1,
			g1: tau*a.I1 - d1,
		}
	}
	var buf [44]float64
	// (2τ)ⁿ below 1e-18 or, near τ = ½, Iₙ itself.
	n := min(len(buf), 5+int(41/math.Max(0.1, -math.Log(2*math.Abs(tau)))))
	i := buf[:n]
	special.TailSeries(y, i)
	var c cutExp
	for k := n - 2; k >= 1; k-- { // smallest first
		t := math.Pow(-tau, float64(k))
		c.d1 -= t * i[k]
		c.s1 -= t * float64(k+1) * i[k+1]
		c.d2 += t * (math.Ldexp(1, k) - 2) * i[k]
		if k > 1 {
			c.g1 += t * i[k]
		}
	}
	return c
}
