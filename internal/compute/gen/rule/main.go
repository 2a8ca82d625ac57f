// Command rule generates the kernels of point rules: points, sums, Jacobian.
package main

import (
	. "github.com/mmcloughlin/avo/build"

	"utvi/internal/compute/gen/isa"
	"utvi/internal/compute/gen/lane"
	"utvi/internal/compute/gen/out"
)

func main() {
	points("pointsAsm", false, 2)
	points("pointsEachAsm", true, 4)
	combine3("combine3", false)
	combine3("combine3J", true)
	combine("combineN", false)
	combine("combineNJ", true)
	sampleSum("sampleSum", false)
	sampleSum("sampleSumJ", true)
	sampleMoments("sampleMoments", false)
	sampleMoments("sampleMomentsJ", true)
	vjp()
	square()
	out.Write("rule", "kernel", "isa", "lane")
}

func vjp() {
	lane.Func("vjpAsm", "func(gm, gv, mm, mv, vm, vv, dm, dv *float32, n int)", "computes VJP.")
	gm := lane.Arg("gm")
	gv := lane.Arg("gv")
	dm := lane.Arg("dm")
	dv := lane.Arg("dv")
	mm := lane.Arg("mm")
	mv := lane.Arg("mv")
	vm := lane.Arg("vm")
	vv := lane.Arg("vv")
	lane.Each(lane.Arg("n"), func(at lane.At) {
		a, b := at.Load(gm), at.Load(gv)
		x, y := isa.Vec(), isa.Vec()
		VMULPS(at.Load(mm), a, x)
		VMULPS(at.Load(mv), a, y)
		VFMADD231PS(at.Load(vm), b, x)
		VFMADD231PS(at.Load(vv), b, y)
		at.Store(x, dm)
		at.Store(y, dv)
	})
	lane.End()
}

func square() {
	lane.Func("squareAsm", "func(dst, x *float32, n int)", "computes Square.")
	dst, src := lane.Arg("dst"), lane.Arg("x")
	lane.Each(lane.Arg("n"), func(at lane.At) {
		x := at.Load(src)
		VMULPS(x, x, x)
		at.Store(x, dst)
	})
	lane.End()
}
