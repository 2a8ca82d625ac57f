package vec

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/x86"

	"utvi/internal/compute/gen/isa"
)

// What follows is for AVX-512 alone.

// Inverse returns 1/x within 1 ulp for x from 2⁻¹²⁵ to 2¹²⁵, as Roots does it.
func Inverse(x V) V {
	y := isa.Vec()
	put(x86.VRCP14PS(x, y))
	rest := SubMul(Reg(Const(1)), x, y)
	return AddMul(y, y, rest)
}

// Roots returns √x and 1/√x within 1 ulp: both are 0 where x is 0, and some is where it is not.
// They are NaN for +Inf. An estimate within 2⁻¹⁴ and one step of Newton's method take as long as
// eight multiplications; a root and a division would keep an Intel processor's divider busy for
// 22 clocks.
func Roots(x V) (root, over, some V) {
	some = Compare(x, NotEqual, Zero())
	y := isa.Vec()
	put(x86.VRSQRT14PS_Z(x, masks[some.ID()], y))
	root = Mul(x, y)
	rest := SubMul(Reg(Const(0.5)), root, Mul(y, Const(0.5))) // (1 − x·y²)/2
	return AddMul(Copy(root), root, rest), AddMul(Copy(y), y, rest), some
}

// RootTimes returns √x·by + plus, with the largest number in the place of +Inf; half is by/2.
// The divider is left to whoever divides by the result.
func RootTimes(x V, by, half, plus Op) V {
	x = Min(math.MaxFloat32, x)
	some, y := K(), isa.Vec()
	put(x86.VCMPPS(U8(NotEqual), Zero(), x, some))
	put(x86.VRSQRT14PS_Z(x, some, y))
	root := Mul(x, y)
	rest := SubMul(Reg(Const(1)), root, y) // 1 − x·y²
	return AddMul(Fma(Copy(root), Reg(by), plus), Mul(root, half), rest)
}

// MulIn returns x·y in the lanes of a comparison, 0 elsewhere.
func MulIn(lanes, x V, y Op) V {
	r := isa.Vec()
	put(x86.VMULPS_Z(y, x, masks[lanes.ID()], r))
	return r
}

// MulWhere sets acc = x·y, AddMulWhere acc = acc + x·y and SubMulWhere acc = acc − x·y, in the
// lanes of a comparison.
func MulWhere(lanes, acc, x V, y Op) V {
	put(x86.VMULPS(y, x, masks[lanes.ID()], acc))
	return acc
}

func AddMulWhere(lanes, acc, x V, y Op) V {
	put(x86.VFMADD231PS(y, x, masks[lanes.ID()], acc))
	return acc
}

func SubMulWhere(lanes, acc, x V, y Op) V {
	put(x86.VFNMADD231PS(y, x, masks[lanes.ID()], acc))
	return acc
}

// Times returns y·2ⁿ, for AVX-512.
func (p *Power) Times(y V) V {
	r := isa.Vec()
	put(x86.VSCALEFPS(p.N, y, r))
	return r
}
