// Command one generates the kernels of the layer of one output.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"utvi/internal/compute/gen/isa"
	"utvi/internal/compute/gen/lane"
	"utvi/internal/compute/gen/out"
)

func main() {
	forwardOne()
	backOne()
	gradOne()
	out.Write("one", "affine", "isa", "lane")
}

// The layer of one output: what products would do in several passes over its inputs is done in
// one, with the bits of those products. The width is a multiple of sixteen.

// forwardOne makes three dot products of each row, each with the sums of mulDot: four vectors
// of parts while as many remain, then by vectors into the first.
func forwardOne() {
	lane.Func("forwardOneAsm", "func(mo, vo, m, v, w, bm, bv *float32, rows, width int)",
		"computes Forward of one output, whose w̄, s and w̄²+s follow one another at w.")
	mo := lane.Arg("mo")
	vo := lane.Arg("vo")
	m := lane.Arg("m")
	v := lane.Arg("v")
	w, rows := lane.Arg("w"), lane.Arg("rows")
	width := lane.Arg("width")
	s := GP64()
	second := GP64()
	SHLQ(Imm(2), width)
	LEAQ(Mem{Base: w, Index: width, Scale: 1}, s)
	LEAQ(Mem{Base: w, Index: width, Scale: 2}, second)

	Label("row")
	var sum [3][]VecVirtual
	for i := range sum {
		sum[i] = isa.Vecs(4)
		for _, a := range sum[i] {
			isa.Clear(a)
		}
	}
	at, left := GP64(), GP64()
	XORQ(at, at)
	MOVQ(width, left)
	add := func(c int) {
		place := func(p GPVirtual) Mem { return Mem{Base: p, Index: at, Scale: 1, Disp: isa.Bytes * c} }
		x := isa.Vec()
		VMOVUPS(place(m), x)
		VFMADD231PS(place(w), x, sum[0][c])
		VMULPS(x, x, x)
		VFMADD231PS(place(s), x, sum[1][c])
		VMOVUPS(place(v), x)
		VFMADD231PS(place(second), x, sum[2][c])
	}
	turns := func(name string, n int) {
		SUBQ(I32(n*isa.Bytes), left)
		JLT(LabelRef(name + "End"))
		Label(name)
		for c := range n {
			add(c)
		}
		ADDQ(I32(n*isa.Bytes), at)
		SUBQ(I32(n*isa.Bytes), left)
		JGE(LabelRef(name))
		Label(name + "End")
		ADDQ(I32(n*isa.Bytes), left)
	}
	turns("by4", 4)
	turns("by1", 1)
	var dot [3]Register
	for i, sum := range sum {
		VADDPS(sum[1], sum[0], sum[0])
		VADDPS(sum[3], sum[2], sum[2])
		VADDPS(sum[2], sum[0], sum[0])
		dot[i] = isa.SumHalves(sum[0])
	}
	for i, bias := range []string{"bm", "bv"} {
		VADDSS(Mem{Base: lane.Arg(bias)}, dot[i], dot[i])
	}
	VADDSS(dot[1], dot[2], dot[2])
	VMOVSS(dot[0], Mem{Base: mo})
	VMOVSS(dot[2], Mem{Base: vo})
	for _, p := range []GPVirtual{m, v} {
		ADDQ(width, p)
	}
	ADDQ(Imm(4), mo)
	ADDQ(Imm(4), vo)
	DECQ(rows)
	JNZ(LabelRef("row"))
	lane.End()
}

// backOne goes through each row once: four products and a pass between them would write
// every gradient four times.
func backOne() {
	lane.Func("backOneAsm", "func(dm, dv, m, w, gm, gv *float32, rows, width int)",
		"computes rows of Backward of one output, whose w̄, s and w̄²+s follow one another at w.")
	dm := lane.Arg("dm")
	dv := lane.Arg("dv")
	m := lane.Arg("m")
	w := lane.Arg("w")
	g := lane.Arg("gm")
	h := lane.Arg("gv")
	rows := lane.Arg("rows")
	width := lane.Arg("width")
	s := GP64()
	second := GP64()
	SHLQ(Imm(2), width)
	LEAQ(Mem{Base: w, Index: width, Scale: 1}, s)
	LEAQ(Mem{Base: w, Index: width, Scale: 2}, second)
	zero := isa.Vec()
	isa.Clear(zero)

	Label("row")
	byMean, byVar := isa.Vec(), isa.Vec()
	VBROADCASTSS(Mem{Base: g}, byMean)
	VBROADCASTSS(Mem{Base: h}, byVar)
	lane.Each(lane.Arg("width"), func(at lane.At) {
		d := at.Load(s)
		VFMADD213PS(zero, byVar, d) // as products do, from zero
		VADDPS(d, d, d)
		VMULPS(at.Load(m), d, d)
		VFMADD231PS(at.Load(w), byMean, d)
		at.Store(d, dm)
		e := at.Load(second)
		VFMADD213PS(zero, byVar, e)
		at.Store(e, dv)
	})
	for _, p := range []GPVirtual{dm, dv, m} {
		ADDQ(width, p)
	}
	ADDQ(Imm(4), g)
	ADDQ(Imm(4), h)
	DECQ(rows)
	JNZ(LabelRef("row"))
	lane.End()
}

// begin sets sums to 0, or to what is there if the argument add is not 0.
func begin(name string, sum [3][]VecVirtual, to []GPVirtual) {
	start := lane.Arg("add")
	TESTQ(start, start)
	JNZ(LabelRef(name + "Start"))
	for i := range sum {
		for _, a := range sum[i] {
			isa.Clear(a)
		}
	}
	JMP(LabelRef(name + "Sum"))
	Label(name + "Start")
	for i := range sum {
		for c, a := range sum[i] {
			VMOVUPS(Mem{Base: to[i], Disp: isa.Bytes * c}, a)
		}
	}
	Label(name + "Sum")
}

// addRows adds the products of all rows to sums.
func addRows(name string, sum [3][]VecVirtual, m, v, width Register) {
	g := lane.Arg("gm")
	h := lane.Arg("gv")
	row := lane.Arg("rows")
	at := GP64()
	XORQ(at, at)
	Label(name + "Row")
	byMean, byVar := isa.Vec(), isa.Vec()
	VBROADCASTSS(Mem{Base: g}, byMean)
	VBROADCASTSS(Mem{Base: h}, byVar)
	for c := range sum[0] {
		x := isa.Vec()
		VMOVUPS(Mem{Base: m, Index: at, Scale: 1, Disp: isa.Bytes * c}, x)
		VFMADD231PS(x, byMean, sum[0][c])
		VMULPS(x, x, x)
		VFMADD231PS(x, byVar, sum[1][c])
		VFMADD231PS(Mem{Base: v, Index: at, Scale: 1, Disp: isa.Bytes * c}, byVar, sum[2][c])
	}
	ADDQ(width, at)
	ADDQ(Imm(4), g)
	ADDQ(Imm(4), h)
	DECQ(row)
	JNZ(LabelRef(name + "Row"))
}

// gradOne sums the gradients of some vectors of weights over all rows, one after the other.
func gradOne() {
	lane.Func("gradOneAsm", "func(gw, gs, vh, m, v, gm, gv *float32, rows, width, add int)",
		"computes mᵀg, (m²)ᵀh and vᵀh of one output, and adds them to what is there if add is not 0.")
	gw := lane.Arg("gw")
	gs := lane.Arg("gs")
	vh := lane.Arg("vh")
	m := lane.Arg("m")
	v := lane.Arg("v")
	width := lane.Arg("width")
	left := GP64()
	MOVQ(width, left)
	SHLQ(Imm(2), left)
	SHLQ(Imm(2), width)
	for k := 4; k > 0; k /= 2 {
		if 16/isa.Lanes > k {
			break // a multiple of sixteen numbers is left
		}
		name := []string{"", "one", "two", "", "four"}[k]
		SUBQ(I32(k*isa.Bytes), left)
		JLT(LabelRef(name + "End"))
		Label(name)
		var sum [3][]VecVirtual
		for i := range sum {
			sum[i] = isa.Vecs(k)
		}
		to := []GPVirtual{gw, gs, vh}
		begin(name, sum, to)
		addRows(name, sum, m, v, width)
		for i := range sum {
			for c, a := range sum[i] {
				VMOVUPS(a, Mem{Base: to[i], Disp: isa.Bytes * c})
			}
			ADDQ(I32(k*isa.Bytes), to[i])
		}
		ADDQ(I32(k*isa.Bytes), m)
		ADDQ(I32(k*isa.Bytes), v)
		SUBQ(I32(k*isa.Bytes), left)
		JGE(LabelRef(name))
		Label(name + "End")
		ADDQ(I32(k*isa.Bytes), left)
	}
	lane.End()
}
