package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"utvi/internal/compute/gen/isa"
)

// pack generates pack6: six rows, contiguous in k, into a panel, eight k at a
// time. Within each half of a register, pairs of rows are interleaved, then
// pairs of pairs; rows 4 and 5 follow as a pair of their own.
func pack() {
	if isa.NEON {
		packFours()
		return
	}
	isa.Own("pack6", "func(panel, a *float32, rs, eights int)", "copies 8·eights columns of six rows of a into a panel.")
	panel := param("panel")
	a := param("a")
	rs := param("rs")
	eights := param("eights")
	SHLQ(Imm(2), rs)
	x := newRows(6, rs, nil)
	x.begin(a)

	Label("eight")
	row := accumulators(1, 6)[0]
	for r, v := range row {
		VMOVUPS(x.at(r), v)
	}
	lo, hi := accumulators(1, 3)[0], accumulators(1, 3)[0]
	for p := range 3 {
		VUNPCKLPS(row[2*p+1], row[2*p], lo[p])
		VUNPCKHPS(row[2*p+1], row[2*p], hi[p])
	}
	// lo holds k = 0, 1 and, in its upper half, 4, 5; hi 2, 3 and 6, 7.
	at := func(k, r int) Mem { return Mem{Base: panel, Disp: 24*k + 4*r} }
	for i, t := range [][]VecVirtual{lo, hi} {
		even := YMM()
		odd := YMM()
		upper := XMM()
		VUNPCKLPD(t[1], t[0], even)
		VUNPCKHPD(t[1], t[0], odd)
		VEXTRACTF128(Imm(1), t[2], upper)
		for j, v := range []VecVirtual{even, odd} {
			k := 2*i + j
			VMOVUPS(v.AsX(), at(k, 0))
			VEXTRACTF128(Imm(1), v, at(k+4, 0))
		}
		VMOVLPS(t[2].AsX(), at(2*i, 4))
		VMOVHPS(t[2].AsX(), at(2*i+1, 4))
		VMOVLPS(upper, at(2*i+4, 4))
		VMOVHPS(upper, at(2*i+5, 4))
	}
	ADDQ(Imm(32), x.low)
	ADDQ(Imm(32), x.high)
	ADDQ(U32(8*24), panel)
	DECQ(eights)
	JNZ(LabelRef("eight"))
	isa.End()
}

// packFours generates pack6 with registers of four k.
func packFours() {
	isa.Own("pack6", "func(panel, a *float32, rs, eights int)", "copies 8·eights columns of six rows of a into a panel.")
	panel := param("panel")
	a := param("a")
	rs := param("rs")
	fours := param("eights")
	SHLQ(Imm(2), rs)
	SHLQ(Imm(1), fours)
	x := newRows(6, rs, nil)
	x.begin(a)

	Label("four")
	row := isa.Vecs(6)
	for r, v := range row {
		VMOVUPS(x.at(r), v)
	}
	for half, unpack := range []func(a, b, d Op){
		func(a, b, d Op) { VUNPCKLPS(a, b, d) }, func(a, b, d Op) { VUNPCKHPS(a, b, d) },
	} {
		pairs := isa.Vecs(3)
		for p, v := range pairs {
			unpack(row[2*p+1], row[2*p], v)
		}
		even, odd := isa.Vec(), isa.Vec()
		VUNPCKLPD(pairs[1], pairs[0], even)
		VUNPCKHPD(pairs[1], pairs[0], odd)
		at := 48 * half
		VMOVUPS(even, Mem{Base: panel, Disp: at})
		VMOVLPS(pairs[2], Mem{Base: panel, Disp: at + 16})
		VMOVUPS(odd, Mem{Base: panel, Disp: at + 24})
		VMOVHPS(pairs[2], Mem{Base: panel, Disp: at + 40})
	}
	ADDQ(Imm(16), x.low)
	ADDQ(Imm(16), x.high)
	ADDQ(Imm(96), panel)
	DECQ(fours)
	JNZ(LabelRef("four"))
	isa.End()
}

// copyRows generates pack1: panels of a right operand, ps apart, from rows contiguous in
// its columns. store is how it writes.
func copyRows(name string, store func(v, m Op)) {
	isa.Func(name, "func(panel, a *float32, rs, rows, panels, ps int)", "copies sixteen columns a panel of rows of a into panels.")
	panel := param("panel")
	a := param("a")
	rs := param("rs")
	panels := param("panels")
	ps := param("ps")
	SHLQ(Imm(2), rs)
	SHLQ(Imm(2), ps)
	Label("panel")
	to := GP64()
	from := GP64()
	rows := param("rows")
	MOVQ(panel, to)
	MOVQ(a, from)
	Label("row")
	row := isa.Vecs(perPanel)
	for c, v := range row {
		VMOVUPS(Mem{Base: from, Disp: isa.Bytes * c}, v)
	}
	for c, v := range row {
		store(v, Mem{Base: to, Disp: isa.Bytes * c})
	}
	ADDQ(rs, from)
	ADDQ(Imm(64), to)
	DECQ(rows)
	JNZ(LabelRef("row"))
	ADDQ(ps, panel)
	ADDQ(Imm(64), a)
	DECQ(panels)
	JNZ(LabelRef("panel"))
	isa.End()
}
