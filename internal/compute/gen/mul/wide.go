package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"utvi/internal/compute/gen/isa"
)

// wide generates mulRxC for few rows: several whole panels at once, because
// one panel alone has too few independent chains to hide the latency of FMA.
func wide(rows, panels int) {
	isa.Own(fmt.Sprintf("mul%dx%d", rows, 16*panels), "func(t *byte)", fmt.Sprintf("multiplies %d rows by %d whole panels.", rows, panels))

	acc := accumulators(rows, perPanel*panels)
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
			VMOVUPS(Mem{Base: start, Disp: isa.Bytes * c}, v)
		}
		ADDQ(lds, start)
	}

	Label("sum")
	x := newRows(rows, bytes("rs"), bytes("cs"))
	x.begin(load("a"))
	b := load("b")
	ps := bytes("ps")
	bs := bytes("bs")
	base := []GPVirtual{b} // of every third panel
	for p := 3; p < panels; p += 3 {
		next := GP64()
		LEAQ(Mem{Base: ps, Index: ps, Scale: 2}, next)
		ADDQ(base[len(base)-1], next)
		base = append(base, next)
	}
	at := func(c int) Mem {
		p, disp := c/perPanel, isa.Bytes*(c%perPanel)
		if p%3 == 0 {
			return Mem{Base: base[p/3], Disp: disp}
		}
		return Mem{Base: base[p/3], Index: ps, Scale: uint8(p % 3), Disp: disp}
	}
	newStretch(AllocLocal(8)).sum(func(int) {
		for r := range rows {
			v := isa.Vec()
			VBROADCASTSS(x.at(r), v)
			for c := range acc[r] {
				VFMADD231PS(at(c), v, acc[r][c])
			}
		}
		x.next()
		for _, b := range base {
			ADDQ(bs, b)
		}
	}, func(int) {}, func(jumpA, jumpB GPVirtual) {
		x.move(jumpA)
		for _, b := range base {
			ADDQ(jumpB, b)
		}
	})

	dst, ldd := load("dst"), bytes("ldd")
	for _, row := range acc {
		for c, v := range row {
			VMOVUPS(v, Mem{Base: dst, Disp: isa.Bytes * c})
		}
		ADDQ(ldd, dst)
	}
	isa.End()
}
