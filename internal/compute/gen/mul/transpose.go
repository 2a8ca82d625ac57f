package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"utvi/internal/compute/gen/isa"
)

// transpose generates pack16: sixteen rows, contiguous in k, into a panel of a
// right operand, four k at a time. store is how it writes.
func transpose(name string, store func(v, m Op)) {
	isa.Func(name, "func(panel, a *float32, rs, fours int)", "copies 4·fours columns of sixteen rows of a into a panel.")
	panel := param("panel")
	rs := param("rs")
	fours := param("fours")
	SHLQ(Imm(2), rs)
	rs3 := GP64()
	LEAQ(Mem{Base: rs, Index: rs, Scale: 2}, rs3)
	base := []GPVirtual{param("a"), GP64(), GP64(), GP64()}
	for i := range 3 {
		LEAQ(Mem{Base: base[i], Index: rs, Scale: 4}, base[i+1])
	}
	at := func(r int) Mem {
		switch b := base[r/4]; r % 4 {
		case 0:
			return Mem{Base: b}
		case 3:
			return Mem{Base: b, Index: rs3, Scale: 1}
		default:
			return Mem{Base: b, Index: rs, Scale: uint8(r % 4)}
		}
	}

	Label("four")
	for part := range perPanel {
		isa.Quads(isa.Lanes*part, at, func(c int, v VecVirtual) { store(v, Mem{Base: panel, Disp: 64*c + isa.Bytes*part}) })
	}
	for _, b := range base {
		ADDQ(Imm(16), b)
	}
	ADDQ(U32(4*64), panel)
	DECQ(fours)
	JNZ(LabelRef("four"))
	isa.End()
}
