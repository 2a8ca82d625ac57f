package lane

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// At is where a loop stands: a byte offset into every slice and, on the last
// elements, a mask of the lanes that exist.
type At struct {
	Offset GPVirtual
	Next   int        // eights further on
	Mask   VecVirtual // nil: all lanes
}

func (at At) memory(base Register) Mem {
	return Mem{Base: base, Index: at.Offset, Scale: 1, Disp: 32 * at.Next}
}

// Load reads eight elements of the slice at base; lanes that do not exist are 0.
func (at At) Load(base Register) VecVirtual {
	v := YMM()
	m := at.memory(base)
	if at.Mask == nil {
		VMOVUPS(m, v)
	} else {
		VMASKMOVPS(m, at.Mask, v)
	}
	return v
}

// Store writes eight elements.
func (at At) Store(v VecVirtual, base Register) {
	m := at.memory(base)
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
	Together(1, n, func(at []At) { body(at[0]) })
}

// Together is Each with several eights at a time as long as there are as many:
// body runs their long chains of dependent instructions next to each other.
func Together(eights int, n GPVirtual, body func(at []At)) {
	offset := GP64()
	XORQ(offset, offset)
	for k := eights; k > 0; k /= 2 {
		after := fmt.Sprint("below", 8*k)
		loop := fmt.Sprint("eights", k)
		SUBQ(Imm(uint64(8*k)), n)
		JLT(LabelRef(after))
		Label(loop)
		var at []At
		for i := range k {
			at = append(at, At{Offset: offset, Next: i})
		}
		body(at)
		ADDQ(Imm(uint64(32*k)), offset)
		SUBQ(Imm(uint64(8*k)), n)
		JGE(LabelRef(loop))
		Label(after)
		ADDQ(Imm(uint64(8*k)), n)
	}
	TESTQ(n, n)
	JZ(LabelRef("done"))
	window, mask := GP64(), YMM()
	LEAQ(masks(), window)
	NEGQ(n)
	VMOVUPS(Mem{Base: window, Index: n, Scale: 4, Disp: 32}, mask)
	body([]At{{Offset: offset, Mask: mask}})
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
