package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"

	"utvi/compute/gen/lane"
	"utvi/compute/gen/vec"
)

const immOne = U8(1)

// A total is a sum in float64: eight lanes in two registers.
type total struct{ lo, hi vec.V }

func newTotal() total {
	t := total{YMM(), YMM()}
	VXORPD(t.lo, t.lo, t.lo)
	VXORPD(t.hi, t.hi, t.hi)
	return t
}

// add adds x, addSquare x², in the lanes that exist.
func (t total) add(at lane.At, x vec.V) {
	lo, hi := widen(exists(at, x))
	VADDPD(lo, t.lo, t.lo)
	VADDPD(hi, t.hi, t.hi)
}

func (t total) addSquare(at lane.At, x vec.V) {
	lo, hi := widen(exists(at, x))
	VFMADD231PD(lo, lo, t.lo)
	VFMADD231PD(hi, hi, t.hi)
}

func exists(at lane.At, x vec.V) vec.V {
	if at.Mask == nil {
		return x
	}
	return vec.And(x, at.Mask)
}

// store sums the lanes and returns them as result name.
func (t total) store(name string) {
	high := XMM()
	VADDPD(t.hi, t.lo, t.lo)
	VEXTRACTF128(immOne, t.lo, high)
	VADDPD(high, t.lo.AsX(), high)
	other := XMM()
	VUNPCKHPD(high, high, other)
	VADDSD(other, high, high)
	Store(high, Return(name))
}

func norm2() {
	lane.Func("norm2AVX2", "func(grad *float32, n int) (sum float64)", "computes Norm2.")
	g := lane.Arg("grad")
	sum := newTotal()
	lane.Each(lane.Arg("n"), func(at lane.At) { sum.addSquare(at, at.Load(g)) })
	sum.store("sum")
	lane.End()
}

func klNorm() {
	lane.Func("klNormAVX2", "func(mu, rho, gmu, gs *float32, n int, k *[16]float32) (kl, norm2 float64)", "computes KLNorm.")
	mu, rho, gmu, gs := lane.Arg("mu"), lane.Arg("rho"), lane.Arg("gmu"), lane.Arg("gs")
	k := spread(clip, twoClip, pull, push, priorMean, lnPrior, halfPrior)
	kl, norm := newTotal(), newTotal()
	lane.Together(2, lane.Arg("n"), func(at []lane.At) {
		s := sigmas(at, rho)
		for i, at := range at {
			norm.addSquare(at, gradientRho(k, s[i], at.Load(gs)))
			m := at.Load(mu)
			norm.addSquare(at, gradientMean(k, m, at.Load(gmu)))

			// (σ² + (μ−μ₀)²)/2σ₀² + (ln σ₀ − ½) − ln σ
			d := vec.Sub(m, k[priorMean])
			t := vec.AddMul(vec.Mul(d, d), s[i].sigma, s[i].sigma)
			t = vec.Fma(t, vec.Reg(k[halfPrior]), k[lnPrior])
			kl.add(at, vec.Sub(t, s[i].ln()))
		}
	})
	kl.store("kl")
	norm.store("norm2")
	lane.End()
}
