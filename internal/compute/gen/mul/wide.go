package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// wide generates mulRxC for few rows: several whole panels at once, because
// one panel alone has too few independent chains to hide the latency of FMA.
func wide(rows, panels int) {
	TEXT(fmt.Sprintf("mul%dx%d", rows, 16*panels), NOSPLIT, "func(t *byte)")
	Doc(fmt.Sprintf("mul%dx%d multiplies %d rows by %d whole panels.", rows, 16*panels, rows, panels))
	Pragma("noescape")

	acc := accumulators(rows, 2*panels)
	start, lds := load("start"), bytes("lds")
	TESTQ(start, start)
	JNZ(LabelRef("load"))
	for _, row := range acc {
		for _, v := range row {
			VXORPS(v, v, v)
		}
	}
	JMP(LabelRef("sum"))
	Label("load")
	for _, row := range acc {
		for c, v := range row {
			VMOVUPS(Mem{Base: start, Disp: 32 * c}, v)
		}
		ADDQ(lds, start)
	}

	Label("sum")
	x := newRows(rows, bytes("rs"), bytes("cs"))
	x.begin(load("a"))
	b, ps, k := load("b"), bytes("ps"), load("k")
	b3 := GP64()
	LEAQ(Mem{Base: ps, Index: ps, Scale: 2}, b3)
	ADDQ(b, b3)
	at := func(c, u int) Mem {
		p, disp := c/2, 64*u+32*(c%2)
		switch p {
		case 0:
			return Mem{Base: b, Disp: disp}
		case 3:
			return Mem{Base: b3, Disp: disp}
		}
		return Mem{Base: b, Index: ps, Scale: uint8(p), Disp: disp}
	}
	loop(k, func(u int) {
		for r := range rows {
			v := YMM()
			VBROADCASTSS(x.at(r), v)
			for c := range 2 * panels {
				VFMADD231PS(at(c, u), v, acc[r][c])
			}
		}
		x.next()
	}, func(u int) {
		ADDQ(I32(64*u), b)
		ADDQ(I32(64*u), b3)
	})

	dst, ldd := load("dst"), bytes("ldd")
	for _, row := range acc {
		for c, v := range row {
			VMOVUPS(v, Mem{Base: dst, Disp: 32 * c})
		}
		ADDQ(ldd, dst)
	}
	VZEROUPPER()
	RET()
}
