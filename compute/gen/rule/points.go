package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"

	"utvi/compute/gen/lane"
)

// points emits s = √v, x = m + ξ·s over the planes of x. Nodes are numbers, or
// planes of their own.
func points(each bool) {
	name := "pointsAVX2"
	if each {
		name = "pointsEachAVX2"
	}
	lane.Func(name, "func(m, v, s, x, xi *float32, points, n int)", "computes the points of a rule.")
	m, v, s, x, xi := lane.Arg("m"), lane.Arg("v"), lane.Arg("s"), lane.Arg("x"), lane.Arg("xi")
	count, n := lane.Arg("points"), lane.Arg("n")
	stride := GP64()
	MOVQ(n, stride)
	SHLQ(Imm(2), stride)
	place := "full"
	lane.Each(n, func(at lane.At) {
		if at.Mask != nil {
			place = "part"
		}
		mean, root := at.Load(m), at.Load(v)
		VSQRTPS(root, root)
		at.Store(root, s)
		px, pxi, left := GP64(), GP64(), GP64()
		MOVQ(x, px)
		MOVQ(xi, pxi)
		MOVQ(count, left)
		Label(place)
		y := YMM()
		if each {
			y = at.Load(pxi)
		} else {
			VBROADCASTSS(Mem{Base: pxi}, y)
		}
		VFMADD213PS(mean, root, y)
		at.Store(y, px)
		ADDQ(stride, px)
		if each {
			ADDQ(stride, pxi)
		} else {
			ADDQ(Imm(4), pxi)
		}
		DECQ(left)
		JNZ(LabelRef(place))
	})
	lane.End()
}
