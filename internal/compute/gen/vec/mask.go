package vec

import (
	"slices"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
	"github.com/mmcloughlin/avo/x86"

	"utvi/internal/compute/gen/isa"
)

// masks are the opmasks of what Compare returned, with AVX-512. A mask is also spread
// over a vector, for arithmetic on its bits; whole drops that where nobody reads it.
var masks = map[reg.ID]reg.OpmaskVirtual{}

// Comparisons, false on NaN unless said.
const (
	Less      = 0x11 // LT_OQ
	AtMost    = 0x12 // LE_OQ
	Greater   = 0x1e // GT_OQ
	Equal     = 0x00 // EQ_OQ
	NotEqual  = 0x04 // NEQ_UQ, true on NaN
	NotAtMost = 0x16 // NLE_UQ, true on NaN
	Unordered = 0x03
)

// Compare returns all ones where a rel b.
func Compare(a V, rel uint8, b Op) V {
	r := isa.Vec()
	if !isa.AVX512 {
		put(x86.VCMPPS(U8(rel), b, a, r))
		return r
	}
	k := K()
	put(x86.VCMPPS(U8(rel), b, a, k))
	put(x86.VPMOVM2D(k, r))
	masks[r.ID()] = k
	return r
}

// Select returns yes where the sign bit of mask is set, else no.
func Select(mask, yes, no V) V {
	r := isa.Vec()
	if !isa.AVX512 {
		put(x86.VBLENDVPS(mask, yes, no, r))
		return r
	}
	k, ok := masks[mask.ID()]
	if !ok {
		k = K()
		put(x86.VPMOVD2M(mask, k))
	}
	put(x86.VBLENDMPS(yes, no, k, r))
	return r
}

// And combines bits.
func And(a V, b Op) V {
	r := isa.Vec()
	if m, ok := b.(V); ok && masks[m.ID()] != nil {
		a, b = m, a
	}
	if k := masks[a.ID()]; k != nil {
		put(x86.VMOVUPS_Z(b, k, r))
		return r
	}
	put(x86.VANDPS(b, a, r))
	return r
}

// whole drops from code the spreading of masks that nobody reads, keep excepted.
func whole(code []*ir.Instruction, keep []V) []*ir.Instruction {
	return slices.DeleteFunc(code, func(i *ir.Instruction) bool {
		if i.Opcode != "VPMOVM2D" {
			return false
		}
		r := i.OutputRegisters()[0]
		return !slices.ContainsFunc(keep, func(v V) bool { return reg.Equal(v, r) }) &&
			!slices.ContainsFunc(code, func(j *ir.Instruction) bool { return has(j.InputRegisters(), r) })
	})
}
