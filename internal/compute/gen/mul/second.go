package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"

	"utvi/internal/compute/gen/isa"
)

// second generates mulSecond: one row, contiguous in k, by two whole panels of w̄²+s,
// made from those of w̄ (b) and s (b2), added to dst.
func second() {
	isa.Func("mulSecond", "func(t *byte)", "adds to dst one row times two whole panels of b² + b2.")
	dst := load("dst")
	a := load("a")
	b := load("b")
	s := load("b2")
	ps, k := bytes("ps"), load("k")
	acc := isa.Vecs(2 * perPanel)
	for c, v := range acc {
		VMOVUPS(Mem{Base: dst, Disp: isa.Bytes * c}, v)
	}
	loop(k, func(u int) {
		x := isa.Vec()
		VBROADCASTSS(Mem{Base: a, Disp: 4 * u}, x)
		for c, v := range acc {
			mean, vari := Mem{Base: b, Disp: 64*u + isa.Bytes*(c%perPanel)}, Mem{Base: s, Disp: 64*u + isa.Bytes*(c%perPanel)}
			if c >= perPanel {
				mean.Index = ps
				mean.Scale = 1
				vari.Index = ps
				vari.Scale = 1
			}
			w := isa.Vec()
			VMOVUPS(mean, w)
			VMULPS(w, w, w)
			VADDPS(vari, w, w)
			VFMADD231PS(w, x, v)
		}
	}, func(u int) {
		ADDQ(I32(4*u), a)
		ADDQ(I32(64*u), b)
		ADDQ(I32(64*u), s)
	})
	for c, v := range acc {
		VMOVUPS(v, Mem{Base: dst, Disp: isa.Bytes * c})
	}
	isa.End()
}
