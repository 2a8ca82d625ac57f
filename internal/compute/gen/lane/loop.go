package lane

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"utvi/internal/compute/gen/isa"
)

// At is where a loop stands: a byte offset into every slice and, on the last
// elements, a mask of the lanes that exist.
type At struct {
	Offset GPVirtual
	Next   int       // vectors further on
	Mask   *isa.Mask // nil: all lanes
}

// Memory is the vector of the slice at base.
func (at At) Memory(base Register) Mem {
	return Mem{Base: base, Index: at.Offset, Scale: 1, Disp: isa.Bytes * at.Next}
}

// Load reads a vector of the slice at base; lanes that do not exist are 0.
func (at At) Load(base Register) VecVirtual {
	v := isa.Vec()
	at.Mask.Load(at.Memory(base), v)
	return v
}

// Store writes a vector.
func (at At) Store(v VecVirtual, base Register) { at.Mask.Store(v, at.Memory(base)) }

// Each emits body for the elements 0 … n−1, a vector at a time and then, with a
// mask, for the rest. The arithmetic is the same, so an element's bits do not
// depend on its place. It uses n up.
func Each(n GPVirtual, body func(at At)) {
	Together(1, n, func(at []At) { body(at[0]) })
}

// Together is Each with several vectors at a time as long as there are as many:
// body runs their long chains of dependent instructions next to each other.
func Together(vectors int, n GPVirtual, body func(at []At)) {
	offset := GP64()
	XORQ(offset, offset)
	for k := vectors; k > 0; k /= 2 {
		after := fmt.Sprint("below", k)
		loop := fmt.Sprint("vectors", k)
		SUBQ(Imm(uint64(isa.Lanes*k)), n)
		JLT(LabelRef(after))
		Label(loop)
		var at []At
		for i := range k {
			at = append(at, At{Offset: offset, Next: i})
		}
		body(at)
		ADDQ(I32(isa.Bytes*k), offset)
		SUBQ(Imm(uint64(isa.Lanes*k)), n)
		JGE(LabelRef(loop))
		Label(after)
		ADDQ(Imm(uint64(isa.Lanes*k)), n)
	}
	TESTQ(n, n)
	JZ(LabelRef("done"))
	if isa.NEON {
		Label("single")
		body([]At{{Offset: offset, Mask: isa.One}})
		ADDQ(Imm(4), offset)
		DECQ(n)
		JNZ(LabelRef("single"))
		Label("done")
		return
	}
	body([]At{{Offset: offset, Mask: isa.First(n, masks)}})
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
	LEAQ(AllocLocal(isa.Bytes*n+isa.Bytes-8).Offset(isa.Bytes-8), base) // stacks are aligned to 8
	ANDQ(I32(-isa.Bytes), base)
	return Mem{Base: base}
}
