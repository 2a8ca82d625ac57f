package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// transpose generates pack16: sixteen rows, contiguous in k, into a panel of a
// right operand, four k at a time. A register takes four k of row r and, in
// its upper half, of row r+4; a 4 × 4 transpose within halves does the rest.
// store is how it writes.
func transpose(name string, store func(v, m Op)) {
	TEXT(name, NOSPLIT, "func(panel, a *float32, rs, fours int)")
	Doc(name + " copies 4·fours columns of sixteen rows of a into a panel.")
	Pragma("noescape")
	panel, rs, fours := param("panel"), param("rs"), param("fours")
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
	for half := range 2 {
		row := accumulators(1, 4)[0]
		for i, v := range row {
			VMOVUPS(at(8*half+i), v.AsX())
			VINSERTF128(Imm(1), at(8*half+i+4), v, v)
		}
		lo, hi := accumulators(1, 2)[0], accumulators(1, 2)[0]
		for p := range 2 {
			VUNPCKLPS(row[2*p+1], row[2*p], lo[p])
			VUNPCKHPS(row[2*p+1], row[2*p], hi[p])
		}
		for i, t := range [][]VecVirtual{lo, hi} {
			even, odd := YMM(), YMM()
			VUNPCKLPD(t[1], t[0], even)
			VUNPCKHPD(t[1], t[0], odd)
			store(even, Mem{Base: panel, Disp: 64*(2*i) + 32*half})
			store(odd, Mem{Base: panel, Disp: 64*(2*i+1) + 32*half})
		}
	}
	for _, b := range base {
		ADDQ(Imm(16), b)
	}
	ADDQ(U32(4*64), panel)
	DECQ(fours)
	JNZ(LabelRef("four"))
	VZEROUPPER()
	RET()
}
