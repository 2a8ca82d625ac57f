package lane

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// At is where a loop stands: a byte offset into every slice and, on the last
// elements, a mask of the lanes that exist.
type At struct {
	Offset GPVirtual
	Mask   VecVirtual // nil: all lanes
}

// Load reads eight elements of the slice at base; lanes that do not exist are 0.
func (at At) Load(base Register) VecVirtual {
	v := YMM()
	m := Mem{Base: base, Index: at.Offset, Scale: 1}
	if at.Mask == nil {
		VMOVUPS(m, v)
	} else {
		VMASKMOVPS(m, at.Mask, v)
	}
	return v
}

// Store writes eight elements.
func (at At) Store(v VecVirtual, base Register) {
	m := Mem{Base: base, Index: at.Offset, Scale: 1}
	if at.Mask == nil {
		VMOVUPS(v, m)
	} else {
		VMASKMOVPS(v, at.Mask, m)
	}
}

// Each emits body for the elements 0 … n−1, eight at a time and then, with a
// mask, for the rest. The arithmetic is the same, so an element's bits do not
// depend on its place. It uses n up.
func Each(n GPVirtual, body func(at At)) {
	offset := GP64()
	XORQ(offset, offset)
	SUBQ(Imm(8), n)
	JLT(LabelRef("rest"))

	Label("eight")
	body(At{Offset: offset})
	ADDQ(Imm(32), offset)
	SUBQ(Imm(8), n)
	JGE(LabelRef("eight"))

	Label("rest")
	ADDQ(Imm(8), n)
	JZ(LabelRef("done"))
	window, mask := GP64(), YMM()
	LEAQ(masks(), window)
	NEGQ(n)
	VMOVUPS(Mem{Base: window, Index: n, Scale: 4, Disp: 32}, mask)
	body(At{Offset: offset, Mask: mask})
	Label("done")
}

// masks is eight lanes of ones before eight of zeros: a window that begins 8−k
// lanes in covers k ones.
func masks() Mem {
	const name = "masks"
	if m, ok := known[name]; ok {
		return m
	}
	m := GLOBL(name, RODATA|NOPTR)
	for i := range 8 {
		DATA(8*i, U64([]uint64{1<<64 - 1, 0}[i/4]))
	}
	known[name] = m
	return m
}

// Vectors allocates n vectors on the stack, aligned: a load that straddles two
// cache lines costs double.
func Vectors(n int) Mem {
	base := GP64()
	LEAQ(AllocLocal(32*n+24).Offset(24), base) // stacks are aligned to 8
	ANDQ(I32(-32), base)
	return Mem{Base: base}
}
