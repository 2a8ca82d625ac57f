package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"

	"utvi/internal/compute/gen/isa"
)

// peak generates fmaLoop: n rounds of 12 independent vector FMAs.
func peak() {
	isa.Func("fmaLoop", "func(n int)", "runs n rounds of 12 independent vector FMAs, or 24 with NEON.")
	n := param("n")
	units := 12
	if isa.NEON { // some cores have four units
		units = 24
	}
	acc := isa.Vecs(units)
	x := isa.Vec()
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
	isa.End()
}
