package vec

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// magic added to |x| < 2²² leaves the nearest integer in the low bits.
const magic = 3 << 22

// split cuts a number into a float32 and the float32 of what is left of it.
func split(x float64) (hi, lo float32) {
	hi = float32(x)
	return hi, float32(x - float64(hi))
}

// Exp returns eˣ within 1 ulp for every x: rounded subnormals, 0, +Inf, NaN.
func Exp(x V) V {
	p := ExpParts(Max(-104, Min(89, x)))
	return p.Scale(p.Y())
}

// A Power is eˣ = (1+P)·2ⁿ with |ln(1+P)| ≤ ½ln 2, kept apart so that small
// results are rounded once, when scaled last, and eˣ−1 does not cancel.
type Power struct {
	P V // e^r − 1
	T V // magic + n
}

// ExpParts returns eˣ in parts for −120 ≤ x ≤ 89 or NaN.
func ExpParts(x V) Power {
	t := Reg(Const(magic))
	VFMADD231PS(Const(math.Log2E), x, t)
	return expReduced(t, Copy(x))
}

// SquareParts returns exp(−c·x²), c ½ or 1, in parts for |x√c| ≤ 11 or NaN,
// with the part of x² that rounding loses: it counts c·x²·2⁻²⁴ in the result.
func SquareParts(c float32, x V) Power {
	sq := Mul(x, x)
	lo := Copy(x)
	VFMSUB213PS(sq, x, lo)
	t := Reg(Const(magic))
	VFMADD231PS(Const(-c*math.Log2E), sq, t)
	p := expReduced(t, Mul(sq, Const(-c)), lo, Const(c))
	return p
}

// expReduced ends a reduction: r = x − n·ln 2 (− lo·c), overwriting x.
func expReduced(t, x V, lo ...Op) Power {
	n := Sub(t, Const(magic))
	hi, low := split(math.Ln2)
	SubMul(x, n, Const(hi))
	if len(lo) == 2 {
		SubMul(x, lo[0].(V), lo[1])
	}
	r := SubMul(x, n, Const(low))
	// e^r = 1 + r + r²·q(r)
	q := Poly(r, Fit(func(r float64) float64 {
		if math.Abs(r) < 1e-3 {
			return 0.5 + r/6 + r*r/24
		}
		return (math.Expm1(r) - r) / (r * r)
	}, -0.347, 0.347, 4))
	r2 := Mul(r, r)
	VFMADD213PS(r, r2, q)
	return Power{q, t}
}

// Y returns 1+P.
func (p Power) Y() V { return Add(p.P, Const(1)) }

// Scale returns y·2ⁿ for n from −250 to 254, in two factors so that the result
// is rounded once wherever it lies.
func (p Power) Scale(y V) V {
	n, half := YMM(), YMM()
	VPSUBD(Const(magic), p.T, n)
	VPSRAD(Imm(1), n, half)
	VPSUBD(half, n, n)
	for _, k := range []V{half, n} {
		VPSLLD(Imm(23), k, k)
		VPADDD(Const(1), k, k)
		y = Mul(y, k)
	}
	return y
}

// Pow2 returns 2ⁿ for n ≤ 127, 2⁻¹²⁶ for any n below.
func (p Power) Pow2() V {
	t := Max(magic-126, p.T)
	VPSLLD(Imm(23), t, t) // shifts magic out
	VPADDD(Const(1), t, t)
	return t
}
