package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"utvi/internal/compute/gen/lane"
)

// planes emits body for every plane of a group of elements; body moves its own
// pointers on by stride, the bytes of a plane.
func planes(name string, at []lane.At, body func()) {
	label := place(name, at)
	left := lane.Arg("points")
	Label(label)
	body()
	DECQ(left)
	JNZ(LabelRef(label))
}

// place is a label of its own for each group size.
func place(name string, at []lane.At) string {
	if at[0].Mask != nil {
		return name + "Rest"
	}
	return fmt.Sprint(name, len(at))
}

// planeBytes is the step from plane to plane of n elements.
func planeBytes(n GPVirtual) GPVirtual {
	stride := GP64()
	MOVQ(n, stride)
	SHLQ(Imm(2), stride)
	return stride
}

// points emits s = √v, x = m + ξ·s over the planes of x. Nodes are numbers or,
// with each, planes of their own.
func points(name string, each bool, together int) {
	lane.Func(name, "func(m, v, s, x, xi *float32, points, n int)", "computes the points of a rule.")
	m := lane.Arg("m")
	v := lane.Arg("v")
	s := lane.Arg("s")
	n := lane.Arg("n")
	stride := planeBytes(n)
	lane.Together(together, n, func(at []lane.At) {
		var mean, root []VecVirtual
		for i, at := range at {
			mean, root = append(mean, at.Load(m)), append(root, at.Load(v))
			VSQRTPS(root[i], root[i])
			at.Store(root[i], s)
		}
		x, xi := lane.Arg("x"), lane.Arg("xi")
		planes("points", at, func() {
			for i, at := range at {
				var y VecVirtual
				if each {
					y = at.Load(xi)
				} else {
					y = broadcast(Mem{Base: xi})
				}
				VFMADD213PS(mean[i], root[i], y)
				at.Store(y, x)
			}
			ADDQ(stride, x)
			if each {
				ADDQ(stride, xi)
			} else {
				ADDQ(Imm(4), xi)
			}
		})
	})
	lane.End()
}
