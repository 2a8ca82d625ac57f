package vec

import (
	"math"

	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/x86"

	"utvi/internal/compute/gen/isa"
)

// magic added to |x| < 2²² leaves the nearest integer in the low bits.
const magic = 3 << 22

// split cuts a number into a float32 and the float32 of what is left of it.
func split(x float64) (hi, lo float32) {
	hi = float32(x)
	return hi, float32(x - float64(hi))
}

// Exp returns eˣ within 1.1 ulp for every x: rounded subnormals, 0, +Inf, NaN.
func Exp(x V) V {
	p := ExpParts(Max(-104, Min(89, x)))
	return p.Scale(p.Y())
}

// A Power is eˣ = (1+P)·2ⁿ with |ln(1+P)| ≤ ½ln 2, kept apart so that small
// results are rounded once, when scaled last, and eˣ−1 does not cancel.
type Power struct {
	P V // e^r − 1
	T V // magic + n
	N V // n

	half, rest V // 2ⁿ in two factors, once they are needed
}

// ExpParts returns eˣ in parts for −120 ≤ x ≤ 89 or NaN.
func ExpParts(x V) *Power {
	t := AddMul(Reg(Const(magic)), x, Const(math.Log2E))
	return expReduced(t, Copy(x))
}

// ExpMinus returns exp(−|x|), e⁻⁸⁷ from |x| = 87 on, in fewer instructions than ExpParts takes: for
// AVX-512.
func ExpMinus(x V) V {
	m := isa.Vec()
	put(x86.VRANGEPS(U8(0b1110), Const(87), x, m)) // −min(|x|, 87)
	n := Sub(AddMul(Reg(Const(magic)), m, Const(math.Log2E)), Const(magic))
	hi, low := split(math.Ln2)
	r := SubMul(SubMul(m, n, Const(hi)), n, Const(low))
	y := horner(r, Fit(math.Exp, -0.347, 0.347, 6), 1)
	e := isa.Vec()
	put(x86.VSCALEFPS(n, y, e))
	return e
}

// SquareParts returns exp(−c·x²), c ½ or 1, in parts for |x√c| ≤ 11 or NaN,
// with the part of x² that rounding loses: it counts c·x²·2⁻²⁴ in the result.
func SquareParts(c float32, x V) *Power {
	sq := Mul(x, x)
	lo := MulSub(Copy(x), x, sq)
	t := AddMul(Reg(Const(magic)), sq, Const(-c*math.Log2E))
	return expReduced(t, Mul(sq, Const(-c)), lo, Const(c))
}

// expReduced ends a reduction: r = x − n·ln 2 (− lo·c), overwriting x.
func expReduced(t, x V, lo ...Op) *Power {
	n := Sub(t, Const(magic))
	hi, low := split(math.Ln2)
	SubMul(x, n, Const(hi))
	if len(lo) == 2 {
		SubMul(x, lo[0].(V), lo[1])
	}
	r := SubMul(x, n, Const(low))
	// e^r = 1 + r + r²·q(r)
	r2 := Mul(r, r)
	q := PolySquare(r, r2, Fit(func(r float64) float64 {
		if math.Abs(r) < 1e-3 {
			return 0.5 + r/6 + r*r/24
		}
		return (math.Expm1(r) - r) / (r * r)
	}, -0.347, 0.347, 4))
	return &Power{P: Fma(q, r2, r), T: t, N: n}
}

// Y returns 1+P.
func (p *Power) Y() V { return Add(p.P, Const(1)) }

// Scale returns y·2ⁿ for n from −250 to 254, in two factors so that the result
// is rounded once wherever it lies.
func (p *Power) Scale(y V) V {
	p.factors()
	return Mul(Mul(y, p.half), p.rest)
}

// LessScaled sets acc = acc − y·2ⁿ, also rounded once.
func (p *Power) LessScaled(acc, y V) V {
	p.factors()
	return SubMul(acc, Mul(y, p.half), p.rest)
}

func (p *Power) factors() {
	if p.half == nil {
		half := right(p.T, 1) // the shifts in power2 drop what is left of magic
		p.half, p.rest = power2(half), power2(subInt(p.T, half))
	}
}

// power2 returns 2ⁿ from the low bits of t.
func power2(t V) V { return addInt(left(t, 23), Const(1)) }

// Pow2 returns 2ⁿ for n ≤ 127, 2⁻¹²⁶ for any n below.
func (p *Power) Pow2() V { return power2(Max(magic-126, p.T)) }
