// Package vec emits float32 mathematics on vectors of eight lanes (AVX2, FMA)
// for the generators of this module. An emitter writes instructions into the
// function under construction and returns fresh registers; its arguments stay
// intact unless it says otherwise. Constants are memory operands, so that the
// sixteen registers are left to the values.
//
// Polynomials are fitted when the generator runs (see Fit), from the function
// they stand for: there are no tables of unexplained digits.
package vec

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// V is a register of eight float32 or int32.
type V = reg.VecVirtual

// consts remembers which constants the file has.
var consts = map[uint32]Mem{}

// Const is eight copies of c in read-only memory.
func Const(c float32) Mem { return Bits(math.Float32bits(c)) }

// Bits is eight copies of the 32-bit pattern b in read-only memory.
func Bits(b uint32) Mem {
	if m, ok := consts[b]; ok {
		return m
	}
	m := GLOBL(fmt.Sprintf("c%08x", b), 8|16) // RODATA|NOPTR
	for i := range 4 {
		DATA(8*i, U64(uint64(b)<<32|uint64(b)))
	}
	consts[b] = m
	return m
}

const (
	signBit = 0x80000000
	absBits = 0x7fffffff
)

// Reg returns a register filled from memory.
func Reg(m Op) V { r := YMM(); VMOVUPS(m, r); return r }

// Copy returns a register with x in it.
func Copy(x V) V { r := YMM(); VMOVAPS(x, r); return r }

// Add returns a + b; b may be memory, as in all that follow.
func Add(a V, b Op) V { r := YMM(); VADDPS(b, a, r); return r }

// Sub returns a − b.
func Sub(a V, b Op) V { r := YMM(); VSUBPS(b, a, r); return r }

// Mul returns a·b.
func Mul(a V, b Op) V { r := YMM(); VMULPS(b, a, r); return r }

// Div returns a / b.
func Div(a V, b Op) V { r := YMM(); VDIVPS(b, a, r); return r }

// And and Or combine bits.
func And(a V, b Op) V { r := YMM(); VANDPS(b, a, r); return r }
func Or(a V, b Op) V  { r := YMM(); VORPS(b, a, r); return r }

// Abs returns |x|, Sign the sign bit of x.
func Abs(x V) V  { return And(x, Bits(absBits)) }
func Sign(x V) V { return And(x, Bits(signBit)) }

// Min returns min(c, x) and Max max(c, x), NaN where x is NaN.
func Min(c float32, x V) V { r := Reg(Const(c)); VMINPS(x, r, r); return r }
func Max(c float32, x V) V { r := Reg(Const(c)); VMAXPS(x, r, r); return r }

// Select returns yes where the sign bit of mask is set, else no.
func Select(mask, yes, no V) V { r := YMM(); VBLENDVPS(mask, yes, no, r); return r }

// Comparisons, false on NaN unless said.
const (
	Less      = 0x11 // LT_OQ
	AtMost    = 0x12 // LE_OQ
	Greater   = 0x1e // GT_OQ
	Equal     = 0x00 // EQ_OQ
	NotEqual  = 0x04 // NEQ_UQ, true on NaN
	Unordered = 0x03
)

// Compare returns all ones where a rel b.
func Compare(a V, rel uint8, b Op) V { r := YMM(); VCMPPS(U8(rel), b, a, r); return r }

// Fma sets acc = acc·x + c.
func Fma(acc V, x V, c Op) V { VFMADD213PS(c, x, acc); return acc }

// AddMul sets acc = acc + x·y, SubMul acc = acc − x·y.
func AddMul(acc V, x V, y Op) V { VFMADD231PS(y, x, acc); return acc }
func SubMul(acc V, x V, y Op) V { VFNMADD231PS(y, x, acc); return acc }

// Poly returns c[0] + c[1]·x + … as two Horner chains, of the even and the odd
// powers, to halve the wait.
func Poly(x V, c []float64) V {
	if len(c) < 5 {
		return horner(x, c, 1)
	}
	x2 := Mul(x, x)
	return AddMul(horner(x2, c, 2), horner(x2, c[1:], 2), x)
}

// horner evaluates every step-th coefficient in powers of x.
func horner(x V, c []float64, step int) V {
	last := (len(c) - 1) / step * step
	acc := Reg(Const(float32(c[last])))
	for i := last - step; i >= 0; i -= step {
		Fma(acc, x, Const(float32(c[i])))
	}
	return acc
}
