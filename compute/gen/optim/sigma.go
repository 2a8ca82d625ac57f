package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/reg"

	"utvi/compute/gen/lane"
	"utvi/compute/gen/vec"
)

// sigma is what a step needs of ρ, with e = exp(−|ρ|) and h = ln(1+e)/e.
type sigma struct {
	rho, sigma vec.V // ρ and σ = softplus(ρ)
	e          vec.V
	y          vec.V // h for ρ < 0, else σ: ln σ = min(ρ, 0) + ln y
}

// sigmas returns the spread of each ρ. Below ρ = −87, e stays at e⁻⁸⁷, so that it
// is never subnormal; σ² is zero long before.
func sigmas(at []lane.At, rho Register) []sigma {
	s := make([]sigma, len(at))
	for i := range s {
		s[i].rho = at[i].Load(rho)
		p := vec.ExpParts(vec.Max(-87, vec.Or(s[i].rho, vec.Bits(1<<31))))
		s[i].e = vec.Mul(p.Y(), p.Pow2())
	}
	for i := range s {
		h := vec.Poly(s[i].e, vec.Fit(func(e float64) float64 {
			return math.Log1p(e) / e
		}, 0, 1, 9))
		s[i].sigma = vec.AddMul(vec.Max(0, s[i].rho), s[i].e, h)
		s[i].y = vec.Select(s[i].rho, h, s[i].sigma)
	}
	return s
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

// widen converts eight float32 to two registers of four float64.
func widen(x vec.V) (lo, hi vec.V) {
	lo, hi = YMM(), YMM()
	VCVTPS2PD(x.AsX(), lo)
	VEXTRACTF128(immOne, x, hi.AsX())
	VCVTPS2PD(hi.AsX(), hi)
	return lo, hi
}
