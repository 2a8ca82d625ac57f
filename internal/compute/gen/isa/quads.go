package isa

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Quads reads four numbers of each of the rows from row r on, as many as a register has lanes, and
// stores the four columns. A register takes a row and, in its further quarters, those four, eight
// and twelve below, as far as it reaches; a 4 × 4 transpose within quarters does the rest.
func Quads(r int, at func(r int) Mem, store func(c int, v reg.VecVirtual)) {
	row := Vecs(4)
	for i, v := range row {
		if AVX512 {
			VBROADCASTF32X4(at(r+i), v)
			for q := 1; q < 4; q++ {
				VINSERTF32X4(U8(q), at(r+i+4*q), v, v)
			}
			continue
		}
		VMOVUPS(at(r+i), v.AsX())
		if !NEON {
			VINSERTF128(Imm(1), at(r+i+4), v, v)
		}
	}
	lo, hi := Vecs(2), Vecs(2)
	for p := range 2 {
		VUNPCKLPS(row[2*p+1], row[2*p], lo[p])
		VUNPCKHPS(row[2*p+1], row[2*p], hi[p])
	}
	for i, t := range [][]reg.VecVirtual{lo, hi} {
		even, odd := Vec(), Vec()
		VUNPCKLPD(t[1], t[0], even)
		VUNPCKHPD(t[1], t[0], odd)
		store(2*i, even)
		store(2*i+1, odd)
	}
}
