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

// sigmas returns the spread of each ρ, all exponentials before the polynomials.
// Below ρ = −87, e stays at e⁻⁸⁷, so that it is never subnormal; σ² is zero long
// before.
func sigmas(rho ...vec.V) []sigma {
	s := make([]sigma, len(rho))
	for i, rho := range rho {
		s[i] = sigma{rho: rho}
		if isa.AVX512 {
			s[i].e = vec.ExpMinus(rho)
		} else {
			p := vec.ExpParts(vec.Max(-87, vec.Or(rho, vec.Bits(1<<31))))
			s[i].e = vec.Mul(p.Y(), p.Pow2())
		}
	}
	h := vec.Fit(func(e float64) float64 { return math.Log1p(e) / e }, 0, 1, 9)
	for i := range s {
		s[i].h = vec.Poly(s[i].e, h)
		s[i].sigma = vec.AddMul(vec.Max(0, s[i].rho), s[i].e, s[i].h)
	}
	return s
}

func variance() {
	lane.Func("varianceAsm", "func(dst, rho *float32, n int)", "computes Variance.")
	dst, rho := lane.Arg("dst"), lane.Arg("rho")
	squares(rho, func(at lane.At, s vec.V) { at.Store(s, dst) })
	lane.End()
}

func varianceSecond() {
	lane.Func("varianceSecondAsm", "func(s, second, mean, rho *float32, n int)", "computes VarianceSecond.")
	to, second, mean := lane.Arg("s"), lane.Arg("second"), lane.Arg("mean")
	if isa.AVX512 {
		vec.Loop("", lane.Arg("n"), []reg.Register{lane.Arg("rho"), mean}, []reg.Register{to, second}, func(x []vec.V) []vec.V {
			s := sigmas(x[0])[0].sigma
			s = vec.Mul(s, s)
			return []vec.V{s, vec.Add(vec.Mul(x[1], x[1]), s)}
		})
		lane.End()
		return
	}
	squares(lane.Arg("rho"), func(at lane.At, s vec.V) {
		at.Store(s, to)
		m := at.Load(mean)
		at.Store(vec.Add(vec.Mul(m, m), s), second)
	})
	lane.End()
}

// squares passes the σ² of all n elements of rho to do.
func squares(rho reg.Register, do func(at lane.At, s vec.V)) {
	lane.Together(4, lane.Arg("n"), func(at []lane.At) {
		var x []vec.V
		for _, at := range at {
			x = append(x, at.Load(rho))
		}
		for i, s := range sigmas(x...) {
			do(at[i], vec.Mul(s.sigma, s.sigma))
		}
	})
}

// gradRho is the part of a step's gradients that waits for σ:
//
//	gr   = Clip·sigmoid(ρ)·(2σ·gs + KL·(σ/σ₀² − 1/σ))
//	rest = σ²/2σ₀² + ln σ₀ − ½ − min(ρ, 0), with AVX-512 without ln σ₀ − ½
//	y    = h for ρ < 0, else σ, so that ln σ = min(ρ, 0) + ln y
func gradRho() {
	lane.Func("gradRhoAsm", "func(gr, rest, y, rho, gs *float32, n int, k *[16]float32)",
		"computes g_ρ of StepRandom for n > 0, and ln(σ₀/σ) + σ²/2σ₀² − ½ as rest − ln y.")
	in := []reg.Register{lane.Arg("rho"), lane.Arg("gs")}
	out := []reg.Register{lane.Arg("gr"), lane.Arg("rest"), lane.Arg("y")}
	k := spread(twoClip, pull, push, lnPrior, halfPrior)
	vec.Loop("", lane.Arg("n"), in, out, func(x []vec.V) []vec.V { return gradRhoOf(k, x[0], x[1]) })
	lane.End()
}

// gradRhoOf returns gr, rest and y. There is one division: sigmoid(ρ)/σ = 1/((1+e)·y), whatever the
// sign of ρ.
func gradRhoOf(k map[int]Mem, rho, gs vec.V) []vec.V {
	s := sigmas(rho)[0]
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
