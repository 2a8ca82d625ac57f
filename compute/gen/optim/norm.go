package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"utvi/compute/gen/lane"
	"utvi/compute/gen/vec"
)

const immOne = U8(1)

// A total is a sum in float64: eight lanes in two vectors on the stack, which
// leaves the registers to what is summed.
type total struct{ lo, hi Mem }

func newTotal() total {
	local, zero := lane.Vectors(2), YMM()
	VXORPD(zero, zero, zero)
	VMOVUPD(zero, local)
	VMOVUPD(zero, local.Offset(32))
	return total{local, local.Offset(32)}
}

// add adds x, addSquare x², in the lanes that exist.
func (t total) add(at lane.At, x vec.V) {
	lo, hi := widen(exists(at, x))
	VADDPD(t.lo, lo, lo)
	VADDPD(t.hi, hi, hi)
	VMOVUPD(lo, t.lo)
	VMOVUPD(hi, t.hi)
}

func (t total) addSquare(at lane.At, x vec.V) {
	lo, hi := widen(exists(at, x))
	VFMADD213PD(t.lo, lo, lo)
	VFMADD213PD(t.hi, hi, hi)
	VMOVUPD(lo, t.lo)
	VMOVUPD(hi, t.hi)
}

func exists(at lane.At, x vec.V) vec.V {
	if at.Mask == nil {
		return x
	}
	return vec.And(x, at.Mask)
}

// store sums the lanes and returns them as result name.
func (t total) store(name string) {
	sum, high := YMM(), XMM()
	VMOVUPD(t.lo, sum)
	VADDPD(t.hi, sum, sum)
	VEXTRACTF128(immOne, sum, high)
	VADDPD(high, sum.AsX(), high)
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
		kl.add(at[0], klTerms(k, at, mu, s))
		squares := vec.Zero()
		for i, at := range at {
			gr := gradientRho(k, s[i], at.Load(gs))
			vec.AddMul(squares, gr, gr)
			gm := gradientMean(k, at.Load(mu), at.Load(gmu))
			vec.AddMul(squares, gm, gm)
		}
		norm.add(at[0], squares)
	})
	kl.store("kl")
	norm.store("norm2")
	lane.End()
}

// klTerms returns Σ (σ² + (μ−μ₀)²)/2σ₀² + (ln σ₀ − ½) − ln σ over the eights of a
// turn, with one logarithm: that of the product of their y.
func klTerms(k map[int]Mem, at []lane.At, mu Register, s []sigma) vec.V {
	var sum, y vec.V
	for i, at := range at {
		d := vec.Sub(at.Load(mu), k[priorMean])
		t := vec.AddMul(vec.Mul(d, d), s[i].sigma, s[i].sigma)
		t = vec.Fma(t, vec.Reg(k[halfPrior]), k[lnPrior])
		t = vec.Sub(t, vec.Min(0, s[i].rho))
		if i == 0 {
			sum, y = t, s[i].y
		} else {
			sum, y = vec.Add(sum, t), vec.Mul(y, s[i].y)
		}
	}
	return vec.Sub(sum, vec.Log(y))
}
