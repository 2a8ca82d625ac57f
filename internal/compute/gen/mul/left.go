package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"

	"utvi/internal/compute/gen/lane"
)

// packLeft copies row by row, six elements to each panel: the source is read in
// order, whatever power of two its rows are apart. The tape that it writes to lies far
// away and the panels are too many for the CPU to foresee, so it asks for their lines.
func packLeft() {
	lane.Func("packLeftAsm", "func(dst, src *float32, rows, width, panels int)", "packs the whole panels of PackLeft.")
	dst := lane.Arg("dst")
	src := lane.Arg("src")
	rows := lane.Arg("rows")
	width := lane.Arg("width")
	panels := lane.Arg("panels")
	const row = 6 * 4 // bytes of a panel's row
	step, left := GP64(), GP64()
	IMUL3Q(Imm(row), rows, step)
	SHLQ(Imm(2), width)
	MOVQ(rows, left)

	Label("row")
	to := GP64()
	from := GP64()
	n := GP64()
	MOVQ(dst, to)
	MOVQ(src, from)
	MOVQ(panels, n)
	Label("panel")
	a, b := XMM(), XMM()
	VMOVUPS(Mem{Base: from}, a)
	VMOVSD(Mem{Base: from, Disp: 16}, b)
	VMOVUPS(a, Mem{Base: to})
	VMOVSD(b, Mem{Base: to, Disp: 16})
	PREFETCHT0(Mem{Base: to, Disp: 3 * row})
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
