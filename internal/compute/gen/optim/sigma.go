package main

import (
	"math"

	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"utvi/internal/compute/gen/isa"
	"utvi/internal/compute/gen/lane"
	"utvi/internal/compute/gen/vec"
)

// sigma is what a step needs of ρ, with e = exp(−|ρ|) and h = ln(1+e)/e.
type sigma struct {
	rho, sigma vec.V // ρ and σ = softplus(ρ)
	e, h       vec.V
}

// exponential returns e. Below ρ = −87 it stays at e⁻⁸⁷, so that it is never subnormal; σ² is zero
// long before.
func exponential(rho vec.V) vec.V {
	if isa.AVX512 {
		return vec.ExpMinus(rho)
	}
	p := vec.ExpParts(vec.Max(-87, vec.Or(rho, vec.Bits(1<<31))))
	return vec.Mul(p.Y(), p.Pow2())
}

// newSigma returns what a step needs of ρ, given e.
func newSigma(rho, e vec.V) sigma {
	h := vec.Poly(e, vec.Fit(func(e float64) float64 { return math.Log1p(e) / e }, 0, 1, 9))
	return sigma{rho: rho, sigma: vec.AddMul(vec.Max(0, rho), e, h), e: e, h: h}
}

func variance() {
	lane.Func("varianceAsm", "func(dst, rho *float32, n int)", "computes Variance for n > 0.")
	dst := lane.Arg("dst")
	loop(nil, []reg.Register{dst}, dst, nil, func(s sigma, _ []vec.V) []vec.V { return []vec.V{vec.Mul(s.sigma, s.sigma)} })
	lane.End()
}

func varianceSecond() {
	lane.Func("varianceSecondAsm", "func(s, second, mean, rho *float32, n int)", "computes VarianceSecond for n > 0.")
	to := lane.Arg("s")
	loop([]reg.Register{lane.Arg("mean")}, []reg.Register{to, lane.Arg("second")}, to, nil, func(s sigma, x []vec.V) []vec.V {
		v := vec.Mul(s.sigma, s.sigma)
		return []vec.V{v, vec.Add(vec.Mul(x[0], x[0]), v)}
	})
	lane.End()
}

// loop is vec.Loop over the σ of all n elements of rho, and the streams at in. Without AVX-512, a
// first loop leaves e at wait: in one loop the chain of dependent instructions is longer than a
// processor looks ahead. The second loop may write there. Both ask for streams that are read soon:
// the first one for those at in and two of soon, the second one for the others.
func loop(in, out []reg.Register, wait reg.Register, soon []reg.Register, body func(s sigma, x []vec.V) []vec.V) {
	rho := lane.Arg("rho")
	if isa.AVX512 {
		vec.LoopAsking(soon, "", lane.Arg("n"), append([]reg.Register{rho}, in...), out, func(x []vec.V) []vec.V {
			return body(newSigma(x[0], exponential(x[0])), x[1:])
		})
		return
	}
	half := min(2, len(soon))
	vec.LoopAsking(append(in[:len(in):len(in)], soon[:half]...), "Exp", lane.Arg("n"), []reg.Register{rho}, []reg.Register{wait}, func(x []vec.V) []vec.V {
		return []vec.V{exponential(x[0])}
	})
	vec.LoopAsking(soon[half:], "", lane.Arg("n"), append([]reg.Register{rho, wait}, in...), out, func(x []vec.V) []vec.V {
		return body(newSigma(x[0], x[1]), x[2:])
	})
}

// gradRho is the part of a step's gradients that waits for σ:
//
//	gr   = Clip·sigmoid(ρ)·(2σ·gs + KL·(σ/σ₀² − 1/σ))
//	rest = σ²/2σ₀² + ln σ₀ − ½ − min(ρ, 0), with AVX-512 without ln σ₀ − ½
//	y    = h for ρ < 0, else σ, so that ln σ = min(ρ, 0) + ln y
func gradRho() {
	lane.Func("gradRhoAsm", "func(gr, rest, y, rho, gs *float32, n int, k *[16]float32, soon *[6]*float32)",
		"computes g_ρ of StepRandom for n > 0, and ln(σ₀/σ) + σ²/2σ₀² − ½ as rest − ln y. It asks for n numbers at each address of soon.")
	y := lane.Arg("y")
	k := spread(twoClip, pull, push, lnPrior, halfPrior)
	loop([]reg.Register{lane.Arg("gs")}, []reg.Register{lane.Arg("gr"), lane.Arg("rest"), y}, y, pointers("soon", 6), func(s sigma, x []vec.V) []vec.V {
		return gradRhoOf(k, s, x[0])
	})
	lane.End()
}

// gradRhoOf returns gr, rest and y. There is one division: sigmoid(ρ)/σ = 1/((1+e)·y), whatever the
// sign of ρ.
func gradRhoOf(k map[int]Mem, s sigma, gs vec.V) []vec.V {
	rho := s.rho
	if isa.AVX512 {
		square, one := vec.Mul(s.sigma, s.sigma), vec.Reg(vec.Const(1))
		y := vec.Select(vec.Compare(rho, vec.Less, vec.Zero()), s.h, s.sigma)
		ratio := vec.Div(one, vec.Fma(vec.Copy(y), s.e, y))
		g := vec.Fma(vec.Copy(gs), vec.Reg(k[twoClip]), k[pull])
		g = vec.Mul(vec.MulSub(g, square, k[push]), ratio)
		return []vec.V{g, vec.MulSub(vec.Copy(square), vec.Reg(k[halfPrior]), vec.Min(0, rho)), y} // see part.add
	}
	rest := vec.Fma(vec.Mul(s.sigma, s.sigma), vec.Reg(k[halfPrior]), k[lnPrior])
	rest = vec.Sub(rest, vec.Min(0, rho))
	y := vec.Select(rho, s.h, s.sigma)
	one := vec.Reg(vec.Const(1))
	ratio := vec.Div(one, vec.Mul(vec.Add(s.e, vec.Const(1)), y))
	slope := vec.Mul(s.sigma, ratio)
	g := vec.Add(vec.Mul(gs, k[twoClip]), k[pull])
	g = vec.Mul(g, vec.Mul(slope, s.sigma))
	return []vec.V{vec.SubMul(g, ratio, k[push]), rest, y}
}
