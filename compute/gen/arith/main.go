// Command arith generates the plain arithmetic between the products: scaling and
// adding of slices, a comparison, and the copying of rows into panels.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"

	"utvi/compute/gen/lane"
	"utvi/compute/gen/out"
)

func main() {
	twiceMul()
	mulTo()
	add()
	anyBelow()
	packLeft()
	out.Write("arith", "lane")
}

func twiceMul() {
	lane.Func("twiceMulAVX2", "func(x, y *float32, n int)", "computes TwiceMul.")
	x, y := lane.Arg("x"), lane.Arg("y")
	lane.Each(lane.Arg("n"), func(at lane.At) {
		a := at.Load(x)
		VADDPS(a, a, a)
		VMULPS(at.Load(y), a, a)
		at.Store(a, x)
	})
	lane.End()
}

func mulTo() {
	lane.Func("mulToAVX2", "func(dst, x, y *float32, n int)", "computes MulTo.")
	dst, x, y := lane.Arg("dst"), lane.Arg("x"), lane.Arg("y")
	lane.Each(lane.Arg("n"), func(at lane.At) {
		a := at.Load(x)
		VMULPS(at.Load(y), a, a)
		at.Store(a, dst)
	})
	lane.End()
}

func add() {
	lane.Func("addAVX2", "func(x, y *float32, n int)", "computes Add.")
	x, y := lane.Arg("x"), lane.Arg("y")
	lane.Each(lane.Arg("n"), func(at lane.At) {
		a := at.Load(x)
		VADDPS(at.Load(y), a, a)
		at.Store(a, x)
	})
	lane.End()
}

// anyBelow gathers the lanes that are below, and looks at them once in the end.
func anyBelow() {
	const less, more = U8(0x11), U8(0x1e) // false on NaN
	lane.Func("anyBelowAVX2", "func(s, m *float32, n int, rel float32) bool", "computes AnyBelow.")
	s, m := lane.Arg("s"), lane.Arg("m")
	rel, one, abs, zero, found := YMM(), YMM(), YMM(), YMM(), YMM()
	VBROADCASTSS(NewParamAddr("rel", 24), rel)
	VMOVUPS(lane.Float(1), one)
	VMOVUPS(lane.Word(1<<31-1), abs)
	VXORPS(zero, zero, zero)
	VXORPS(found, found, found)
	lane.Together(2, lane.Arg("n"), func(at []lane.At) {
		for _, at := range at {
			x, bound := at.Load(s), at.Load(m)
			VANDPS(abs, bound, bound)
			VADDPS(one, bound, bound)
			VMULPS(rel, bound, bound)
			VCMPPS(less, bound, x, bound)
			VCMPPS(more, zero, x, x)
			VANDPS(x, bound, bound)
			VORPS(bound, found, found)
		}
	})
	bits, any := GP32(), GP8()
	VMOVMSKPS(found, bits)
	TESTL(bits, bits)
	SETNE(any)
	Store(any, ReturnIndex(0))
	lane.End()
}

// packLeft copies row by row, six elements to each panel: the source is read in
// order, whatever power of two its rows are apart.
func packLeft() {
	lane.Func("packLeftAVX2", "func(dst, src *float32, rows, width, panels int)", "packs the whole panels of PackLeft.")
	dst, src, rows, width, panels := lane.Arg("dst"), lane.Arg("src"), lane.Arg("rows"), lane.Arg("width"), lane.Arg("panels")
	const row = 6 * 4 // bytes of a panel's row
	step, left := GP64(), GP64()
	IMUL3Q(Imm(row), rows, step)
	SHLQ(Imm(2), width)
	MOVQ(rows, left)

	Label("row")
	to, from, n := GP64(), GP64(), GP64()
	MOVQ(dst, to)
	MOVQ(src, from)
	MOVQ(panels, n)
	Label("panel")
	a, b := XMM(), XMM()
	VMOVUPS(Mem{Base: from}, a)
	VMOVSD(Mem{Base: from, Disp: 16}, b)
	VMOVUPS(a, Mem{Base: to})
	VMOVSD(b, Mem{Base: to, Disp: 16})
	ADDQ(Imm(row), from)
	ADDQ(step, to)
	DECQ(n)
	JNZ(LabelRef("panel"))
	ADDQ(Imm(row), dst)
	ADDQ(width, src)
	DECQ(left)
	JNZ(LabelRef("row"))
	lane.End()
}
