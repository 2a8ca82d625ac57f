package main

import (
	"strings"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"utvi/internal/compute/gen/isa"
	. "utvi/internal/compute/gen/vec"
)

// leakyMoments emits the formulas of LeakyMoments in package compute in two
// passes, as one alone would need too many registers to interleave vectors:
// first t, φ, σ and 1/σ, then the moments from them. The Jacobian's pass finds
// them in the planes it overwrites: mm, vv, vm and mv in this order.
func leakyMoments() {
	pass("elemLeakyStart", "m, v, t, phi, sigma, inv", "m v", "t phi sigma inv", func() func(x []V) []V {
		return func(x []V) []V { return start(x[0], x[1]) }
	})
	pass("elemLeakyValue", "a float32, m, v, t, phi, sigma, mean, variance", "m v t phi sigma", "mean variance", func() func(x []V) []V {
		k := newCoefficients()
		return func(x []V) []V { return k.moments(x, false) }
	})
	pass("elemLeakyJacobian", "a float32, m, v, mean, variance, mm, mv, vm, vv", "m v mm vv vm mv", "mean variance mm mv vm vv", func() func(x []V) []V {
		k := newCoefficients()
		return func(x []V) []V { return k.moments(x, true) }
	})
}

// pass emits a function that reads some streams and writes some.
func pass(name, params, reads, writes string, begin func() func(x []V) []V) {
	streams := enter(name, params)
	n := count()
	in := streams(reads)
	out := streams(writes)
	Loop("", n, in, out, begin())
	isa.End()
}

// enter opens a function of slices and returns how its streams are named.
func enter(name, params string) func(names string) []reg.Register {
	isa.Func(name, "func("+params+" []float32)")
	return named()
}

// named returns how the streams of an open function are named.
func named() func(names string) []reg.Register {
	at := map[string]reg.Register{}
	return func(names string) (rs []reg.Register) {
		for _, name := range strings.Fields(names) {
			if at[name] == nil {
				at[name] = Load(Param(name).Base(), GP64())
			}
			rs = append(rs, at[name])
		}
		return rs
	}
}

// count is the number of elements.
func count() reg.GPVirtual { return Load(Param("m").Len(), GP64()).(reg.GPVirtual) }

type coefficients struct{ a, less, plus, floor Op } // a, 1−a, 1+a, leftEnd(a)

// newCoefficients returns what depends on a alone.
func newCoefficients() coefficients {
	a := param()
	return coefficients{spill(a), spill(Sub(one(), a)), spill(Add(a, Const(1))), spill(leftEnd(a))}
}

// spill puts what is used now and then on the stack where registers are few.
func spill(x V) Op {
	if isa.AVX512 || isa.NEON {
		return x
	}
	m := AllocLocal(32)
	VMOVUPS(x, m)
	return m
}

// moments takes m, v, t, φ, σ and, for the Jacobian, 1/σ.
func (k coefficients) moments(x []V, jacobian bool) []V {
	m := x[0]
	v := x[1]
	t := x[2]
	φ := x[3]
	σ := x[4]
	u := UpperTail(t)
	K, J := u.First(), u.Second()

	right := Compare(m, Greater, Zero())
	c := Select(right, one(), Reg(k.a))
	mean := Select(right, m, Mul(MaxOf(Reg(k.floor), m), k.a))

	bφ := Mul(φ, k.less)
	sbφ := Xor(bφ, AndNot(right, Bits(1<<31))) // with the sign of m

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
	mv := Mul(Mul(bφ, x[5]), Const(0.5))

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

// start returns t = |m|/σ up to densityEnd, φ = φ(t), σ = √v and 1/σ, with
// 1/σ and φ zero at v = 0. φ sees the rounding of z = m/σ enlarged z² times, so
// what z and σ lost is put back into it.
func start(m, v V) []V {
	some := Compare(v, NotEqual, Zero())
	σ := Sqrt(v)
	inv := And(Div(one(), σ), some)

	z := Mul(m, inv)
	lost := Mul(SubMul(Copy(m), z, σ), inv)
	half := Mul(Mul(SubMul(Copy(v), σ, σ), inv), Mul(inv, Const(0.5)))
	SubMul(lost, z, half)
	t := Abs(z)
	lost = And(Mul(lost, z), Compare(t, Less, Const(densityEnd))) // NaN at infinity
	t = Min(densityEnd, t)

	p, y := density(t)
	SubMul(y, y, lost) // e^−(z+δ)²/2 = e^−z²/2·(1 − zδ)
	return []V{t, And(p.Scale(y), some), σ, inv}
}
