// Package isa is the instruction set a generator writes for, named by its only
// argument: avx2 (with FMA, sixteen registers of eight float32), avx512 (F, DQ, BW and
// VL, thirty-two registers of sixteen, masks) or neon (thirty-two registers of four, by
// way of package neon). What differs between them beyond the width of a register is
// here, so that one generator serves all.
package isa

import (
	"log"
	"os"
	"slices"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

var (
	AVX512       = argument() == "avx512"
	NEON         = argument() == "neon"
	Lanes        = 8 // float32 in a register
	NumRegisters = 16
	Bytes        = 32 // of a register
)

// Title ends the name of every kernel.
var Title = "AVX2"

// The numbers of registers leave some to avo, whose allocator needs a few more than
// live at a time, and to the translation for NEON.
func init() {
	if NEON {
		Lanes = 4
		NumRegisters = 26
		Bytes = 16
		Title = "NEON"
	}
	if AVX512 {
		Lanes = 16
		NumRegisters = 29
		Bytes = 64
		Title = "AVX512"
	}
}

func argument() string {
	if len(os.Args) != 2 || !slices.Contains([]string{"avx2", "avx512", "neon"}, os.Args[1]) {
		log.Fatal("the only argument of a generator is avx2, avx512 or neon")
	}
	return os.Args[1]
}

// Vec is a new vector register.
func Vec() reg.VecVirtual {
	switch {
	case AVX512:
		return ZMM()
	case NEON:
		return XMM()
	}
	return YMM()
}

// Vecs are n new vector registers.
func Vecs(n int) (v []reg.VecVirtual) {
	for range n {
		v = append(v, Vec())
	}
	return v
}

// Clear sets v to zero.
func Clear(v reg.VecVirtual) { VXORPS(v, v, v) }

// A Mask says which lanes of a vector exist. With NEON it is the first.
type Mask struct {
	K reg.OpmaskVirtual // AVX-512
	V reg.VecVirtual    // AVX2: all ones in the lanes that exist
}

// One is the mask of the first lane, with NEON: there the last elements go one by one.
var One = &Mask{}

// First is the mask of the first n < Lanes lanes; table is where AVX2 finds the window
// that covers n of them.
func First(n reg.GPVirtual, table func() Mem) *Mask {
	if AVX512 {
		ones := GP32()
		MOVL(U32(1<<32-1), ones)
		BZHIL(n.As32(), ones, ones)
		k := K()
		KMOVW(ones, k)
		return &Mask{K: k}
	}
	at, v := GP64(), YMM()
	LEAQ(table(), at)
	back := GP64()
	MOVQ(n, back)
	NEGQ(back)
	VMOVUPS(Mem{Base: at, Index: back, Scale: 4, Disp: 32}, v)
	return &Mask{V: v}
}

// Load reads a vector; lanes that do not exist are 0. A nil mask has them all.
func (m *Mask) Load(from Mem, v reg.VecVirtual) {
	switch {
	case m == nil:
		VMOVUPS(from, v)
	case NEON:
		VMOVSS(from, v)
	case AVX512:
		VMOVUPS_Z(from, m.K, v)
	default:
		VMASKMOVPS(from, m.V, v)
	}
}

// Store writes the lanes that exist.
func (m *Mask) Store(v reg.VecVirtual, to Mem) {
	switch {
	case m == nil:
		VMOVUPS(v, to)
	case NEON:
		VMOVSS(v, to)
	case AVX512:
		VMOVUPS(v, m.K, to)
	default:
		VMASKMOVPS(v, m.V, to)
	}
}

// Only returns v with zeros in the lanes that do not exist.
func (m *Mask) Only(v reg.VecVirtual) reg.VecVirtual {
	if m == nil {
		return v
	}
	r := Vec()
	switch {
	case NEON:
		VANDPS(firstLane(), v, r)
	case AVX512:
		VMOVAPS_Z(v, m.K, r)
	default:
		VANDPS(m.V, v, r)
	}
	return r
}

var lane0 Mem

// firstLane is all ones in the first lane.
func firstLane() Mem {
	if lane0.Symbol.Name == "" {
		lane0 = GLOBL("firstLane", RODATA|NOPTR)
		DATA(0, U64(1<<32-1))
		DATA(8, U64(0))
	}
	return lane0
}

// Compare returns all ones where a rel b.
func Compare(rel U8, b Op, a reg.VecVirtual) reg.VecVirtual {
	r := Vec()
	if !AVX512 {
		VCMPPS(rel, b, a, r)
		return r
	}
	k := K()
	VCMPPS(rel, b, a, k)
	VPMOVM2D(k, r)
	return r
}

// Select returns yes where mask is all ones, no where it is zero.
func Select(mask, yes, no reg.VecVirtual) reg.VecVirtual {
	r := Vec()
	if !AVX512 {
		VBLENDVPS(mask, yes, no, r)
		return r
	}
	k := K()
	VPMOVD2M(mask, k)
	VBLENDMPS(yes, no, k, r)
	return r
}

// Sum adds the lanes of v, which it uses up: halves first. The result is the lowest
// lane of the register returned.
func Sum(v reg.VecVirtual) reg.VecVirtual {
	if AVX512 {
		upper := YMM()
		VEXTRACTF64X4(Imm(1), v, upper)
		low := YMM()
		VADDPS(upper, v.AsY(), low)
		v = low
	}
	high := XMM()
	if NEON {
		VMOVAPS(v, high)
	} else {
		VEXTRACTF128(Imm(1), v, high)
		VADDPS(high, v.AsX(), high)
	}
	VHADDPS(high, high, high)
	VHADDPS(high, high, high)
	return high
}

// Any stores in the boolean result whether a bit of v is set.
func Any(v reg.VecVirtual) {
	any := GP8()
	if AVX512 {
		k := K()
		VPTESTMD(v, v, k)
		KORTESTW(k, k)
	} else {
		VPTEST(v, v)
	}
	SETNE(any)
	Store(any, ReturnIndex(0))
}

// SumHalves adds the lanes of v, which it uses up: halves first, neighbours last. The result is
// the lowest lane of the register returned.
func SumHalves(v reg.VecVirtual) reg.Register {
	if AVX512 {
		upper := YMM()
		VEXTRACTF64X4(Imm(1), v, upper)
		VADDPS(upper, v.AsY(), v.AsY())
	}
	s, h := v.AsX(), XMM()
	if !NEON {
		VEXTRACTF128(Imm(1), v.AsY(), h)
		VADDPS(h, s, s)
	}
	VMOVHLPS(s, s, h)
	VADDPS(h, s, s)
	VMOVSHDUP(s, h)
	VADDSS(h, s, s)
	return s
}
