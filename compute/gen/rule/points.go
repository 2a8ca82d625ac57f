package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

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
	lane.Together(2, n, func(at []lane.At) {
		place := fmt.Sprint("points", len(at))
		if at[0].Mask != nil {
			place = "pointsRest"
		}
		var mean, root []VecVirtual
		for i, at := range at {
			mean, root = append(mean, at.Load(m)), append(root, at.Load(v))
			VSQRTPS(root[i], root[i])
			at.Store(root[i], s)
		}
		px, pxi, left := GP64(), GP64(), GP64()
		MOVQ(x, px)
		MOVQ(xi, pxi)
		MOVQ(count, left)
		Label(place)
		for i, at := range at {
			var y VecVirtual
			if each {
				y = at.Load(pxi)
			} else {
				y = broadcast(Mem{Base: pxi})
			}
			VFMADD213PS(mean[i], root[i], y)
			at.Store(y, px)
		}
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
