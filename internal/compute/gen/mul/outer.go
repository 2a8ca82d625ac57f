package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// outer generates mulOuter: a product with k = 1, where a right operand is one
// row of b in order. Nothing is worth keeping in registers but b's own row; what
// counts is to write dst straight through.
func outer() {
	TEXT("mulOuter", NOSPLIT, "func(t *byte)")
	Doc("mulOuter multiplies a column of count rows by a row of w columns.")
	Pragma("noescape")

	dst, ldd, start, lds := load("dst"), bytes("ldd"), load("start"), bytes("lds")
	a, rs, rows := load("a"), bytes("rs"), load("count")
	b, w := load("b"), bytes("w")
	whole, mask, m := GP64(), YMM(), GP64()
	MOVQ(w, whole)
	ANDQ(I32(-32), whole)
	SUBQ(whole, w) // bytes of the last columns
	LEAQ(edgeMask.Offset(64), m)
	SUBQ(w, m)
	VMOVUPS(Mem{Base: m}, mask)
	zero := YMM()
	VXORPS(zero, zero, zero)

	each := func(name string, add func(at Mem, masked bool) VecVirtual) {
		Label(name)
		x, j := YMM(), GP64()
		VBROADCASTSS(Mem{Base: a}, x)
		XORQ(j, j)
		step := func(masked bool) {
			v, at := YMM(), Mem{Base: dst, Index: j, Scale: 1}
			VMOVUPS(Mem{Base: b, Index: j, Scale: 1}, v) // padded with zeros
			VFMADD213PS(add(Mem{Base: start, Index: j, Scale: 1}, masked), x, v)
			if masked {
				VMASKMOVPS(v, mask, at)
			} else {
				VMOVUPS(v, at)
			}
		}
		CMPQ(j, whole)
		JE(LabelRef(name + "edge"))
		Label(name + "eight")
		step(false)
		ADDQ(Imm(32), j)
		CMPQ(j, whole)
		JNE(LabelRef(name + "eight"))
		Label(name + "edge")
		TESTQ(w, w)
		JZ(LabelRef(name + "next"))
		step(true)
		Label(name + "next")
		ADDQ(ldd, dst)
		ADDQ(lds, start)
		ADDQ(rs, a)
		DECQ(rows)
		JNZ(LabelRef(name))
		VZEROUPPER()
		RET()
	}
	TESTQ(start, start)
	JZ(LabelRef("zero"))
	each("add", func(at Mem, masked bool) VecVirtual {
		s := YMM()
		if masked {
			VMASKMOVPS(at, mask, s)
		} else {
			VMOVUPS(at, s)
		}
		return s
	})
	each("zero", func(Mem, bool) VecVirtual { return zero })
}
