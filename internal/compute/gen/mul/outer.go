package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"utvi/internal/compute/gen/isa"
)

// outer generates mulOuter: a product with k = 1, where a right operand is one
// row of b in order. Nothing is worth keeping in registers but b's own row; what
// counts is to write dst straight through.
func outer() {
	isa.Func("mulOuter", "func(t *byte)", "multiplies a column of count rows by a row of w columns.")

	dst := load("dst")
	ldd := bytes("ldd")
	start := load("start")
	lds := bytes("lds")
	a := load("a")
	rs := bytes("rs")
	rows := load("count")
	b, w := load("b"), load("w")
	whole := GP64()
	MOVQ(w, whole)
	ANDQ(I32(-isa.Lanes), whole)
	SUBQ(whole, w) // the last columns
	SHLQ(Imm(2), whole)
	fours := GP64() // where turns of four vectors end
	MOVQ(whole, fours)
	ANDQ(I32(-4*isa.Bytes), fours)
	edge := isa.One
	if !isa.NEON {
		edge = isa.First(w, edgeTable)
	}
	zero := isa.Vec()
	isa.Clear(zero)

	each := func(name string, add func(at Mem, m *isa.Mask) VecVirtual) {
		Label(name)
		x, j := isa.Vec(), GP64()
		VBROADCASTSS(Mem{Base: a}, x)
		XORQ(j, j)
		step := func(m *isa.Mask, disp int) {
			v := isa.Vec()
			VMOVUPS(Mem{Base: b, Index: j, Scale: 1, Disp: disp}, v) // padded with zeros
			VFMADD213PS(add(Mem{Base: start, Index: j, Scale: 1, Disp: disp}, m), x, v)
			m.Store(v, Mem{Base: dst, Index: j, Scale: 1, Disp: disp})
		}
		CMPQ(j, fours)
		JE(LabelRef(name + "rest"))
		Label(name + "four")
		for i := range 4 {
			step(nil, i*isa.Bytes)
		}
		ADDQ(I32(4*isa.Bytes), j)
		CMPQ(j, fours)
		JNE(LabelRef(name + "four"))
		Label(name + "rest")
		CMPQ(j, whole)
		JE(LabelRef(name + "edge"))
		Label(name + "whole")
		step(nil, 0)
		ADDQ(Imm(uint64(isa.Bytes)), j)
		CMPQ(j, whole)
		JNE(LabelRef(name + "whole"))
		Label(name + "edge")
		TESTQ(w, w)
		JZ(LabelRef(name + "next"))
		if isa.NEON { // column by column
			left := GP64()
			MOVQ(w, left)
			Label(name + "single")
			step(edge, 0)
			ADDQ(Imm(4), j)
			DECQ(left)
			JNZ(LabelRef(name + "single"))
		} else {
			step(edge, 0)
		}
		Label(name + "next")
		ADDQ(ldd, dst)
		ADDQ(lds, start)
		ADDQ(rs, a)
		DECQ(rows)
		JNZ(LabelRef(name))
		isa.End()
	}
	TESTQ(start, start)
	JZ(LabelRef("zero"))
	each("add", func(at Mem, m *isa.Mask) VecVirtual {
		s := isa.Vec()
		m.Load(at, s)
		return s
	})
	each("zero", func(Mem, *isa.Mask) VecVirtual { return zero })
}
