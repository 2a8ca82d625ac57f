// Package vec emits float32 mathematics on vectors for the generators of this module. An emitter writes instructions into the
// function under construction and returns fresh registers; its arguments stay
// intact unless it says otherwise. Constants are memory operands, so that the
// registers are left to the values; a loop then pins what it uses most
// (see Loop).
//
// Polynomials are fitted when the generator runs (see Fit), from the function
// they stand for: there are no tables of unexplained digits.
package vec

import (
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
	"github.com/mmcloughlin/avo/x86"

	"utvi/internal/compute/gen/isa"
)

// V is a register of float32 or int32.
type V = reg.VecVirtual

const (
	signBit = 0x80000000
	absBits = 0x7fffffff
)

// Reg returns a register filled from memory.
func Reg(m Op) V { r := isa.Vec(); put(x86.VMOVUPS(m, r)); return r }

// Broadcast returns a register with a single number from memory in all lanes.
func Broadcast(m Op) V { r := isa.Vec(); put(x86.VBROADCASTSS(m, r)); return r }

// Put writes x to memory.
func Put(x V, m Op) { put(x86.VMOVUPS(x, m)) }

// Copy returns a register with x in it.
func Copy(x V) V { r := isa.Vec(); put(x86.VMOVAPS(x, r)); return r }

// OrInto gathers the bits of x in acc, which may outlive a turn of a loop: one
// instruction, so that interleaving cannot come between.
func OrInto(acc V, x Op) { put(x86.VORPS(x, acc, acc)) }

// AddInto sets acc = acc + x.
func AddInto(acc V, x Op) { put(x86.VADDPS(x, acc, acc)) }

// Zero returns zeros.
func Zero() V { r := isa.Vec(); put(x86.VXORPS(r, r, r)); return r }

// Add returns a + b; b may be memory, as in all that follow.
func Add(a V, b Op) V { r := isa.Vec(); put(x86.VADDPS(b, a, r)); return r }

// Sub returns a − b.
func Sub(a V, b Op) V { r := isa.Vec(); put(x86.VSUBPS(b, a, r)); return r }

// Mul returns a·b.
func Mul(a V, b Op) V { r := isa.Vec(); put(x86.VMULPS(b, a, r)); return r }

// Div returns a / b.
func Div(a V, b Op) V { r := isa.Vec(); put(x86.VDIVPS(b, a, r)); return r }

// Sqrt returns √x.
func Sqrt(x Op) V { r := isa.Vec(); put(x86.VSQRTPS(x, r)); return r }

// AndNot (b where a is clear), Or and Xor combine bits.
func AndNot(a V, b Op) V { r := isa.Vec(); put(x86.VANDNPS(b, a, r)); return r }
func Or(a V, b Op) V     { r := isa.Vec(); put(x86.VORPS(b, a, r)); return r }
func Xor(a V, b Op) V    { r := isa.Vec(); put(x86.VXORPS(b, a, r)); return r }

// Abs returns |x|, Sign the sign bit of x, Neg −x.
func Abs(x V) V  { return And(x, Bits(absBits)) }
func Sign(x V) V { return And(x, Bits(signBit)) }
func Neg(x V) V  { return Xor(x, Bits(signBit)) }

// Min returns min(c, x) and Max max(c, x), NaN where x is NaN.
func Min(c float32, x V) V { return MinOf(Hold(c), x) }
func Max(c float32, x V) V { return MaxOf(Hold(c), x) }

// MinOf returns min(a, b) and MaxOf max(a, b): b if either is NaN.
func MinOf(a V, b Op) V { r := isa.Vec(); put(x86.VMINPS(b, a, r)); return r }
func MaxOf(a V, b Op) V { r := isa.Vec(); put(x86.VMAXPS(b, a, r)); return r }

// Fma sets acc = acc·x + c.
func Fma(acc V, x V, c Op) V { put(x86.VFMADD213PS(c, x, acc)); return acc }

// AddMul sets acc = acc + x·y, SubMul acc = acc − x·y.
func AddMul(acc V, x V, y Op) V { put(x86.VFMADD231PS(y, x, acc)); return acc }
func SubMul(acc V, x V, y Op) V { put(x86.VFNMADD231PS(y, x, acc)); return acc }

// MulSub sets acc = acc·x − c.
func MulSub(acc V, x V, c Op) V { put(x86.VFMSUB213PS(c, x, acc)); return acc }

// On int32 lanes: sums, differences, shifts, conversion to float32.
func addInt(a V, b Op) V   { r := isa.Vec(); put(x86.VPADDD(b, a, r)); return r }
func subInt(a V, b Op) V   { r := isa.Vec(); put(x86.VPSUBD(b, a, r)); return r }
func left(a V, k uint8) V  { r := isa.Vec(); put(x86.VPSLLD(U8(k), a, r)); return r }
func right(a V, k uint8) V { r := isa.Vec(); put(x86.VPSRAD(U8(k), a, r)); return r }
func toFloat(a V) V        { r := isa.Vec(); put(x86.VCVTDQ2PS(a, r)); return r }
