package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"

	"utvi/internal/compute/gen/isa"
	"utvi/internal/compute/gen/lane"
	"utvi/internal/compute/gen/vec"
)

const immOne = U8(1)

// A total is a sum in float64: all lanes, in two registers.
type total struct{ lo, hi vec.V }

func newTotal() total {
	lo, hi := isa.Vec(), isa.Vec()
	VXORPD(lo, lo, lo)
	VXORPD(hi, hi, hi)
	return total{lo, hi}
}

// add adds x, addSquare x², in the lanes that exist.
func (t total) add(at lane.At, x vec.V) {
	lo, hi := widen(at.Mask.Only(x))
	VADDPD(lo, t.lo, t.lo)
	VADDPD(hi, t.hi, t.hi)
}

func (t total) addSquare(at lane.At, x vec.V) {
	lo, hi := widen(at.Mask.Only(x))
	VFMADD231PD(lo, lo, t.lo)
	VFMADD231PD(hi, hi, t.hi)
}

// widen converts a vector of float32 to two of float64.
func widen(x vec.V) (lo, hi vec.V) {
	lo, hi = isa.Vec(), isa.Vec()
	if isa.AVX512 {
		VCVTPS2PD(x.AsY(), lo)
		VEXTRACTF64X4(immOne, x, hi.AsY())
		VCVTPS2PD(hi.AsY(), hi)
		return lo, hi
	}
	VCVTPS2PD(x.AsX(), lo)
	if isa.NEON {
		VMOVHLPS(x, x, hi)
	} else {
		VEXTRACTF128(immOne, x, hi.AsX())
	}
	VCVTPS2PD(hi.AsX(), hi)
	return lo, hi
}

// store sums the lanes and returns them as result name.
func (t total) store(name string) {
	sum, high := isa.Vec(), XMM()
	VADDPD(t.hi, t.lo, sum)
	if isa.AVX512 {
		upper := YMM()
		VEXTRACTF64X4(immOne, sum, upper)
		VADDPD(upper, sum.AsY(), upper)
		sum = upper
	}
	if isa.NEON {
		VMOVAPS(sum, high)
	} else {
		VEXTRACTF128(immOne, sum, high)
		VADDPD(high, sum.AsX(), high)
	}
	other := XMM()
	VUNPCKHPD(high, high, other)
	VADDSD(other, high, high)
	Store(high, Return(name))
}

func norm2() {
	lane.Func("norm2Asm", "func(grad *float32, n int) (sum float64)", "computes Norm2.")
	g := lane.Arg("grad")
	sum := newTotal()
	lane.Each(lane.Arg("n"), func(at lane.At) { sum.addSquare(at, at.Load(g)) })
	sum.store("sum")
	lane.End()
}

// sums are those of a step: the KL, and the squares of the gradients.
type sums struct{ kl, norm total }

func newSums() sums { return sums{newTotal(), newTotal()} }

// A part of the sums is that of the vectors of a turn, for which one logarithm does.
type part struct{ sum, squares, product vec.V }

// add adds one of n vectors, with gradients g and r, d = μ − μ₀, and what gradRho left of it.
func (p *part) add(k map[int]Mem, n int, g, r, d, rest, y vec.V) {
	if p.product == nil {
		p.sum = vec.Zero()
		p.squares = vec.Zero()
		p.product = y
		if isa.AVX512 { // once for all vectors of a turn
			p.sum = vec.Mul(vec.Hold(float32(n)), k[lnPrior])
		}
	} else {
		p.product = vec.Mul(p.product, y)
	}
	vec.AddMul(p.squares, g, g)
	vec.AddMul(p.squares, r, r)
	p.sum = vec.Add(p.sum, vec.AddMul(rest, vec.Mul(d, d), k[halfPrior]))
}

func (s sums) add(at lane.At, p part) {
	s.norm.add(at, p.squares)
	s.kl.add(at, vec.Sub(p.sum, vec.Log(p.product)))
}

func (s sums) store() {
	s.kl.store("kl")
	s.norm.store("norm2")
}

// gradMean is the rest of a step's gradients, gm = Clip·(gmu + KL·(μ−μ₀)/σ₀²), and
// what is summed.
func gradMean() {
	lane.Func("gradMeanAsm", "func(gm, gr, rest, y, mu, gmu *float32, n int, k *[16]float32) (kl, norm2 float64)",
		"computes g_μ of StepRandom, and sums the KL and the squares, after gradRhoAsm.")
	gm := lane.Arg("gm")
	gr := lane.Arg("gr")
	rest := lane.Arg("rest")
	y := lane.Arg("y")
	mu, gmu := lane.Arg("mu"), lane.Arg("gmu")
	k := spread(clip, pull, priorMean, halfPrior)
	all := newSums()
	lane.Together(turn(), lane.Arg("n"), func(at []lane.At) {
		var p part
		for _, v := range at {
			d := vec.Sub(v.Load(mu), k[priorMean])
			g := vec.AddMul(vec.Mul(v.Load(gmu), k[clip]), d, k[pull])
			v.Store(g, gm)
			p.add(k, len(at), g, v.Load(gr), d, v.Load(rest), v.Load(y))
		}
		all.add(at[0], p)
	})
	all.store()
	lane.End()
}

// turn is how many vectors are summed at a time.
func turn() int {
	if isa.AVX512 {
		return 4
	}
	return 2
}
