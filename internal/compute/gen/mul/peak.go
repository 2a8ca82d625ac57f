package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// peak generates fmaLoop: n rounds of 12 independent FMAs of 8 lanes.
func peak() {
	TEXT("fmaLoop", NOSPLIT, "func(n int)")
	Doc("fmaLoop runs n rounds of 12 independent vector FMAs, 192 operations.")
	n := param("n")
	acc := accumulators(1, 12)[0]
	x := YMM()
	VXORPS(x, x, x)
	for _, v := range acc {
		VXORPS(v, v, v)
	}
	Label("round")
	for _, v := range acc {
		VFMADD231PS(x, x, v)
	}
	DECQ(n)
	JNZ(LabelRef("round"))
	VZEROUPPER()
	RET()
}
