package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
	. "utvi/compute/gen/vec"
)

// leakyMoments emits the formulas of LeakyMoments in package compute.
func leakyMoments() {
	TEXT("elemLeakyMoments", 4, "func(a float32, m, v, mean, variance, mm, mv, vm, vv []float32)")
	Pragma("noescape")
	ptr := func(name string) reg.Register { return Load(Param(name).Base(), GP64()) }
	n := Load(Param("m").Len(), GP64())
	in := []reg.Register{ptr("m"), ptr("v")}
	out := []reg.Register{ptr("mean"), ptr("variance"), ptr("mm"), ptr("mv"), ptr("vm"), ptr("vv")}
	// Registers are short: what depends on a alone lives on the stack.
	a := param()
	k := coefficients{spill(a), spill(Sub(one(), a)), spill(Add(a, Const(1))), spill(leftEnd(a))}
	TESTQ(out[2], out[2])
	JEQ(LabelRef("value"))
	Loop("slope", n, in, out, func(x []V) []V { return k.moments(x[0], x[1], true) })
	VZEROUPPER()
	RET()
	Label("value")
	Loop("value", n, in, out[:2], func(x []V) []V { return k.moments(x[0], x[1], false) })
	VZEROUPPER()
	RET()
}

type coefficients struct{ a, less, plus, floor Mem } // a, 1−a, 1+a, leftEnd(a)

func spill(x V) Mem {
	m := AllocLocal(32)
	VMOVUPS(x, m)
	return m
}

func (k coefficients) moments(m, v V, jacobian bool) []V {
	t, σ, inv, φ := standardise(m, v)
	right := Compare(m, Greater, Zero())
	c := Select(right, one(), Reg(k.a))
	mean := Select(right, m, Mul(MaxOf(Reg(k.floor), m), k.a))

	bφ := Mul(φ, k.less)
	sbφ := Xor(bφ, AndNot(right, Bits(1<<31))) // with the sign of m

	u := UpperTail(t)
	K, J := u.First(), u.Second()
	AddMul(mean, Mul(bφ, K), σ)

	tK := Mul(t, K)
	c2 := Mul(c, c)
	sum := Mul(J, k.plus)
	AddMul(sum, Add(c, c), tK)
	AddMul(sum, Mul(sbφ, K), K)
	variance := Mul(SubMul(Copy(c2), sbφ, sum), v)
	if !jacobian {
		return []V{mean, variance}
	}
	M := Add(J, tK)
	mm := SubMul(Copy(c), sbφ, M)
	mv := Mul(Mul(bφ, inv), Const(0.5))

	φK := Mul(φ, K)
	sum = Mul(Mul(Add(t, φK), M), c)
	cross := SubMul(Copy(K), φK, M)
	AddMul(sum, cross, Sub(Reg(k.plus), c))
	vm := Mul(Mul(sum, Add(bφ, bφ)), σ)

	sum = Mul(M, k.plus)
	AddMul(sum, c, t)
	AddMul(sum, sbφ, K)
	vv := SubMul(c2, sbφ, sum)
	return []V{mean, variance, mm, mv, vm, vv}
}

// standardise returns σ = √v, 1/σ, t = |m|/σ up to densityEnd and φ = φ(t) with
// 1/σ and φ zero at v = 0. φ sees the rounding of z = m/σ enlarged z² times, so
// what z and σ lost is put back into it.
func standardise(m, v V) (t, σ, inv, φ V) {
	some := Compare(v, NotEqual, Zero())
	σ = Sqrt(v)
	inv = And(Div(one(), σ), some)

	z := Mul(m, inv)
	lost := Mul(SubMul(Copy(m), z, σ), inv)
	half := Mul(Mul(SubMul(Copy(v), σ, σ), inv), Mul(inv, Const(0.5)))
	SubMul(lost, z, half)
	t = Abs(z)
	lost = And(Mul(lost, z), Compare(t, Less, Const(densityEnd))) // NaN at infinity
	t = Min(densityEnd, t)

	p, y := density(t)
	SubMul(y, y, lost) // e^−(z+δ)²/2 = e^−z²/2·(1 − zδ)
	return t, σ, inv, And(p.Scale(y), some)
}
