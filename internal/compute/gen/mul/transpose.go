package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"utvi/internal/compute/gen/isa"
)

// transpose generates pack16: sixteen rows, contiguous in k, into a panel of a
// right operand, four k at a time. A register takes four k of row r and, in
// its further quarters, of rows r+4, r+8, r+12, as far as it reaches; a 4 × 4
// transpose within quarters does the rest.
// store is how it writes.
func transpose(name string, store func(v, m Op)) {
	isa.Func(name, "func(panel, a *float32, rs, fours int)", "copies 4·fours columns of sixteen rows of a into a panel.")
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
	for part := range perPanel {
		row := accumulators(1, 4)[0]
		for i, v := range row {
			r := isa.Lanes*part + i
			VMOVUPS(at(r), v.AsX())
			if isa.NEON {
				continue
			}
			if !isa.AVX512 {
				VINSERTF128(Imm(1), at(r+4), v, v)
				continue
			}
			for q := 1; q < 4; q++ {
				VINSERTF32X4(U8(q), at(r+4*q), v, v)
			}
		}
		lo, hi := accumulators(1, 2)[0], accumulators(1, 2)[0]
		for p := range 2 {
			VUNPCKLPS(row[2*p+1], row[2*p], lo[p])
			VUNPCKHPS(row[2*p+1], row[2*p], hi[p])
		}
		for i, t := range [][]VecVirtual{lo, hi} {
			even, odd := isa.Vec(), isa.Vec()
			VUNPCKLPD(t[1], t[0], even)
			VUNPCKHPD(t[1], t[0], odd)
			store(even, Mem{Base: panel, Disp: 64*(2*i) + isa.Bytes*part})
			store(odd, Mem{Base: panel, Disp: 64*(2*i+1) + isa.Bytes*part})
		}
	}
	for _, b := range base {
		ADDQ(Imm(16), b)
	}
	ADDQ(U32(4*64), panel)
	DECQ(fours)
	JNZ(LabelRef("four"))
	isa.End()
}
