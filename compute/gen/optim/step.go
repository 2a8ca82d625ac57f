package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"utvi/compute/gen/lane"
	"utvi/compute/gen/vec"
)

var adam = []int{beta1, rest1, beta2, rest2, rate, root, eps}

func stepPoint() {
	function("stepPointAVX2", "func(x, grad, m1, m2 *float32, n int, k *[16]float32)", "computes StepPoint.")
	x, grad, m1, m2 := param("x"), param("grad"), param("m1"), param("m2")
	k := spread(append(adam, clip, keepMean)...)
	lane.Each(param("n"), func(at lane.At) {
		g := vec.Mul(at.Load(grad), k[clip])
		step(at, k, k[keepMean], g, x, m1, m2)
	})
	finish()
}

func stepRandom() {
	function("stepRandomAVX2", "func(mu, rho, gmu, gs, m1mu, m2mu, m1rho, m2rho *float32, n int, k *[16]float32)",
		"computes StepRandom.")
	mu, rho, gmu, gs := param("mu"), param("rho"), param("gmu"), param("gs")
	m1mu, m2mu, m1rho, m2rho := param("m1mu"), param("m2mu"), param("m1rho"), param("m2rho")
	k := spread(append(adam, keepMean, keepRho, clip, twoClip, pull, push, priorMean)...)
	lane.Each(param("n"), func(at lane.At) {
		gr := gradientRho(k, sigmaOf(at.Load(rho)), at.Load(gs))
		step(at, k, k[keepRho], gr, rho, m1rho, m2rho)
		gm := gradientMean(k, at.Load(mu), at.Load(gmu))
		step(at, k, k[keepMean], gm, mu, m1mu, m2mu)
	})
	finish()
}

// gradientMean returns Clip·(gmu + KL·(μ−μ₀)/σ₀²).
func gradientMean(k map[int]Mem, mu, gmu vec.V) vec.V {
	g := vec.Mul(gmu, k[clip])
	return vec.AddMul(g, vec.Sub(mu, k[priorMean]), k[pull])
}

// gradientRho returns Clip·sigmoid(ρ)·(2σ·gs + KL·(σ/σ₀² − 1/σ)).
func gradientRho(k map[int]Mem, s sigma, gs vec.V) vec.V {
	slopeSigma, ratio := s.gradient()
	VMULPS(k[twoClip], gs, gs)
	VADDPS(k[pull], gs, gs)
	g := vec.Mul(gs, slopeSigma)
	return vec.SubMul(g, ratio, k[push])
}

// step moves the numbers at x along g, which it uses up.
func step(at lane.At, k map[int]Mem, keep Mem, g vec.V, x, m1, m2 Register) {
	b := at.Load(m2)
	VMULPS(k[beta2], b, b)
	vec.AddMul(b, vec.Mul(g, g), k[rest2])
	at.Store(b, m2)
	a := at.Load(m1)
	VMULPS(k[beta1], a, a)
	vec.AddMul(a, g, k[rest1])
	at.Store(a, m1)

	VSQRTPS(b, b)
	VMULPS(k[root], b, b)
	VADDPS(k[eps], b, b)
	VMULPS(k[rate], a, a)
	VDIVPS(b, a, a)
	y := at.Load(x)
	VMULPS(keep, y, y)
	VSUBPS(a, y, y)
	at.Store(y, x)
}
