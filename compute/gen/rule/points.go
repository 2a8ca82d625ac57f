package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"utvi/compute/gen/lane"
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

// points emits s = √v, x = m + ξ·s over the planes of x.
func points() {
	lane.Func("pointsAVX2", "func(m, v, s, x, xi *float32, points, n int)", "computes the points of a rule.")
	m, v, s := lane.Arg("m"), lane.Arg("v"), lane.Arg("s")
	n := lane.Arg("n")
	stride := planeBytes(n)
	lane.Together(2, n, func(at []lane.At) {
		var mean, root []VecVirtual
		for i, at := range at {
			mean, root = append(mean, at.Load(m)), append(root, at.Load(v))
			VSQRTPS(root[i], root[i])
			at.Store(root[i], s)
		}
		x, xi := lane.Arg("x"), lane.Arg("xi")
		planes("points", at, func() {
			for i, at := range at {
				y := broadcast(Mem{Base: xi})
				VFMADD213PS(mean[i], root[i], y)
				at.Store(y, x)
			}
			ADDQ(stride, x)
			ADDQ(Imm(4), xi)
		})
	})
	lane.End()
}

// pointsEach emits x = m + ξ·s with nodes that are planes of their own.
func pointsEach() {
	lane.Func("pointsEachAVX2", "func(m, s, x, xi *float32, points, n int)", "computes the points of drawn nodes.")
	m, s := lane.Arg("m"), lane.Arg("s")
	n := lane.Arg("n")
	stride := planeBytes(n)
	lane.Together(4, n, func(at []lane.At) {
		var mean, root []VecVirtual
		for _, at := range at {
			mean, root = append(mean, at.Load(m)), append(root, at.Load(s))
		}
		x, xi := lane.Arg("x"), lane.Arg("xi")
		planes("each", at, func() {
			for i, at := range at {
				y := at.Load(xi)
				VFMADD213PS(mean[i], root[i], y)
				at.Store(y, x)
			}
			ADDQ(stride, x)
			ADDQ(stride, xi)
		})
	})
	lane.End()
}
