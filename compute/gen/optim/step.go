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
	lane.Func("stepPointAVX2", "func(x, grad, m1, m2 *float32, n int, k *[16]float32)", "computes StepPoint.")
	x, grad, m1, m2 := lane.Arg("x"), lane.Arg("grad"), lane.Arg("m1"), lane.Arg("m2")
	k := spread(append(adam, clip, keepMean)...)
	lane.Each(lane.Arg("n"), func(at lane.At) {
		g := vec.Mul(at.Load(grad), k[clip])
		step(at, k, k[keepMean], g, x, m1, m2)
	})
	lane.End()
}

func stepRandom() {
	lane.Func("stepRandomAVX2", "func(mu, rho, gmu, gs, m1mu, m2mu, m1rho, m2rho *float32, n int, k *[16]float32) (kl, norm2 float64)",
		"computes StepRandom.")
	mu, rho, gmu, gs := lane.Arg("mu"), lane.Arg("rho"), lane.Arg("gmu"), lane.Arg("gs")
	m1mu, m2mu, m1rho, m2rho := lane.Arg("m1mu"), lane.Arg("m2mu"), lane.Arg("m1rho"), lane.Arg("m2rho")
	k := spread(append(adam, keepMean, keepRho, clip, twoClip, pull, push, priorMean, lnPrior, halfPrior)...)
	kl, norm := newTotal(), newTotal()
	lane.Together(2, lane.Arg("n"), func(at []lane.At) {
		s := sigmas(at, rho)
		kl.add(at[0], klTerms(k, at, mu, s))
		squares := vec.Zero()
		for _, at := range at {
			gm := gradientMean(k, at.Load(mu), at.Load(gmu))
			vec.AddMul(squares, gm, gm)
			step(at, k, k[keepMean], gm, mu, m1mu, m2mu)
		}
		for i, at := range at {
			gr := gradientRho(k, s[i], at.Load(gs))
			vec.AddMul(squares, gr, gr)
			step(at, k, k[keepRho], gr, rho, m1rho, m2rho)
		}
		norm.add(at[0], squares)
	})
	kl.store("kl")
	norm.store("norm2")
	lane.End()
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
