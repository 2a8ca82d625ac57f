package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"

	"utvi/internal/compute/gen/isa"
)

// dot generates mulDot: rows of a, contiguous in k, against one contiguous
// column b (k rounded up to a vector readable). Summation order, for every row alike:
// four vectors of parts while as many k remain, then by vectors into the first; the
// four are added as ((0+1)+(2+3)), then halves, quarters, neighbours; start last.
func dot() {
	isa.Func("mulDot", "func(t *byte)", "multiplies count rows of a, contiguous in k, by one contiguous column.")

	dst := load("dst")
	ldd := bytes("ldd")
	start := load("start")
	lds := bytes("lds")
	a := load("a")
	rs := bytes("rs")
	rows := load("count")
	last := load("k")
	ANDQ(I32(isa.Lanes-1), last)
	edge := isa.One
	if !isa.NEON {
		edge = isa.First(last, edgeTable)
	}

	Label("row")
	acc := isa.Vecs(4)
	for _, v := range acc {
		isa.Clear(v)
	}
	p := GP64()
	q := load("b")
	k := load("k")
	MOVQ(a, p)
	SUBQ(Imm(uint64(4*isa.Lanes)), k)
	JLT(LabelRef("vectors"))
	Label("by4")
	for c, v := range acc {
		t := isa.Vec()
		VMOVUPS(Mem{Base: p, Disp: isa.Bytes * c}, t)
		VFMADD231PS(Mem{Base: q, Disp: isa.Bytes * c}, t, v)
	}
	ADDQ(I32(4*isa.Bytes), p)
	ADDQ(I32(4*isa.Bytes), q)
	SUBQ(Imm(uint64(4*isa.Lanes)), k)
	JGE(LabelRef("by4"))
	Label("vectors")
	ADDQ(Imm(uint64(3*isa.Lanes)), k)
	JLT(LabelRef("tail"))
	Label("by1")
	t := isa.Vec()
	VMOVUPS(Mem{Base: p}, t)
	VFMADD231PS(Mem{Base: q}, t, acc[0])
	ADDQ(Imm(uint64(isa.Bytes)), p)
	ADDQ(Imm(uint64(isa.Bytes)), q)
	SUBQ(Imm(uint64(isa.Lanes)), k)
	JGE(LabelRef("by1"))
	Label("tail")
	CMPQ(k, I8(-isa.Lanes))
	JE(LabelRef("reduce"))
	u := isa.Vec()
	if isa.NEON {
		MOVQ(last, k)
		Label("single")
	}
	edge.Load(Mem{Base: p}, t)
	edge.Load(Mem{Base: q}, u)
	VFMADD231PS(u, t, acc[0])
	if isa.NEON {
		ADDQ(Imm(4), p)
		ADDQ(Imm(4), q)
		DECQ(k)
		JNZ(LabelRef("single"))
	}

	Label("reduce")
	VADDPS(acc[1], acc[0], acc[0])
	VADDPS(acc[3], acc[2], acc[2])
	VADDPS(acc[2], acc[0], acc[0])
	s := isa.SumHalves(acc[0])
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
	isa.End()
}
