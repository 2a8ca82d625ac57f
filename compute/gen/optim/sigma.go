package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"

	"utvi/compute/gen/vec"
)

// sigma is what a step needs of ρ, with e = exp(−|ρ|) and h = ln(1+e)/e.
type sigma struct {
	rho, sigma vec.V // ρ and σ = softplus(ρ)
	e          vec.V
	y          vec.V // h for ρ < 0, else σ: ln σ = min(ρ, 0) + ln y
}

// sigmaOf returns the spread of ρ. Below ρ = −87, e stays at e⁻⁸⁷, so that it is
// never subnormal; σ² is zero long before.
func sigmaOf(rho vec.V) sigma {
	p := vec.ExpParts(vec.Max(-87, vec.Or(rho, vec.Bits(1<<31))))
	e := vec.Mul(p.Y(), p.Pow2())
	h := vec.Poly(e, vec.Fit(func(e float64) float64 {
		if e == 0 {
			return 1
		}
		return math.Log1p(e) / e
	}, 0, 1, 9))
	s := vec.Max(0, rho)
	vec.AddMul(s, e, h)
	return sigma{rho, s, e, vec.Select(rho, h, s)}
}

// gradient returns sigmoid(ρ)·σ and sigmoid(ρ)/σ from one division:
// sigmoid(ρ)/σ = 1/((1+e)·y), whatever the sign of ρ.
func (s sigma) gradient() (slopeSigma, ratio vec.V) {
	one := vec.Reg(vec.Const(1))
	d := vec.Mul(vec.Add(s.e, vec.Const(1)), s.y)
	ratio = vec.Div(one, d)
	num := vec.Select(s.rho, s.e, one)
	slope := vec.Mul(vec.Mul(num, s.y), ratio)
	return vec.Mul(slope, s.sigma), ratio
}

// ln returns ln σ.
func (s sigma) ln() vec.V {
	l := vec.LogNormal(s.y, nil)
	return vec.Add(l, vec.Min(0, s.rho))
}

// widen converts eight float32 to two registers of four float64.
func widen(x vec.V) (lo, hi vec.V) {
	lo, hi = YMM(), YMM()
	VCVTPS2PD(x.AsX(), lo)
	VEXTRACTF128(immOne, x, hi.AsX())
	VCVTPS2PD(hi.AsX(), hi)
	return lo, hi
}
