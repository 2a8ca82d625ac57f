package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// dot generates mulDot: rows of a, contiguous in k, against one contiguous
// column b (k rounded up to 8 readable). Summation order, for every row alike:
// 32 parts k mod 32 while 32 remain, then by 8 into parts 0 to 7; parts are
// added as ((0+1)+(2+3)) by eights, then halves, quarters, neighbours; start last.
func dot() {
	TEXT("mulDot", NOSPLIT, "func(t *byte)")
	Doc("mulDot multiplies count rows of a, contiguous in k, by one contiguous column.")
	Pragma("noescape")

	dst, ldd, start, lds := load("dst"), bytes("ldd"), load("start"), bytes("lds")
	a, rs, rows := load("a"), bytes("rs"), load("count")
	mask, m := YMM(), GP64()
	last := load("k")
	ANDQ(Imm(7), last)
	SHLQ(Imm(2), last)
	LEAQ(edgeMask.Offset(64), m)
	SUBQ(last, m)
	VMOVUPS(Mem{Base: m}, mask)

	Label("row")
	acc := accumulators(1, 4)[0]
	for _, v := range acc {
		VXORPS(v, v, v)
	}
	p, q, k := GP64(), load("b"), load("k")
	MOVQ(a, p)
	SUBQ(Imm(32), k)
	JLT(LabelRef("eights"))
	Label("by32")
	for c, v := range acc {
		t := YMM()
		VMOVUPS(Mem{Base: p, Disp: 32 * c}, t)
		VFMADD231PS(Mem{Base: q, Disp: 32 * c}, t, v)
	}
	ADDQ(U32(128), p)
	ADDQ(U32(128), q)
	SUBQ(Imm(32), k)
	JGE(LabelRef("by32"))
	Label("eights")
	ADDQ(Imm(32-8), k)
	JLT(LabelRef("tail"))
	Label("by8")
	t := YMM()
	VMOVUPS(Mem{Base: p}, t)
	VFMADD231PS(Mem{Base: q}, t, acc[0])
	ADDQ(Imm(32), p)
	ADDQ(Imm(32), q)
	SUBQ(Imm(8), k)
	JGE(LabelRef("by8"))
	Label("tail")
	CMPQ(k, I8(-8))
	JE(LabelRef("reduce"))
	VMASKMOVPS(Mem{Base: p}, mask, t)
	u := YMM()
	VMASKMOVPS(Mem{Base: q}, mask, u)
	VFMADD231PS(u, t, acc[0])

	Label("reduce")
	VADDPS(acc[1], acc[0], acc[0])
	VADDPS(acc[3], acc[2], acc[2])
	VADDPS(acc[2], acc[0], acc[0])
	s, h := acc[0].AsX(), XMM()
	VEXTRACTF128(Imm(1), acc[0], h)
	VADDPS(h, s, s)
	VMOVHLPS(s, s, h)
	VADDPS(h, s, s)
	VMOVSHDUP(s, h)
	VADDSS(h, s, s)
	TESTQ(start, start)
	JZ(LabelRef("store"))
	VADDSS(Mem{Base: start}, s, s)
	ADDQ(lds, start)
	Label("store")
	VMOVSS(s, Mem{Base: dst})
	ADDQ(ldd, dst)
	ADDQ(rs, a)
	DECQ(rows)
	JNZ(LabelRef("row"))
	VZEROUPPER()
	RET()
}
