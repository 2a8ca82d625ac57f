// Command rule generates the kernels of point rules: points, sums, Jacobian.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/reg"

	"utvi/compute/gen/lane"
	"utvi/compute/gen/out"
)

func main() {
	points(false)
	points(true)
	combine3("combine3", false)
	combine3("combine3J", true)
	combine("combineN", false, false)
	combine("combineNJ", true, false)
	combine("combineEachJ", true, true)
	vjp()
	square()
	out.Write("rule", "lane")
}

// function opens a leaf function.
func function(name, signature, doc string) {
	TEXT(name, NOSPLIT, signature)
	Doc(name + " " + doc)
	Pragma("noescape")
}

func finish() {
	VZEROUPPER()
	RET()
}

func param(name string) GPVirtual { return Load(Param(name), GP64()).(GPVirtual) }

func vjp() {
	function("vjpAVX2", "func(gm, gv, mm, mv, vm, vv, dm, dv *float32, n int)", "computes VJP.")
	gm, gv, dm, dv := param("gm"), param("gv"), param("dm"), param("dv")
	mm, mv, vm, vv := param("mm"), param("mv"), param("vm"), param("vv")
	lane.Each(param("n"), func(at lane.At) {
		a, b := at.Load(gm), at.Load(gv)
		x, y := YMM(), YMM()
		VMULPS(at.Load(mm), a, x)
		VMULPS(at.Load(mv), a, y)
		VFMADD231PS(at.Load(vm), b, x)
		VFMADD231PS(at.Load(vv), b, y)
		at.Store(x, dm)
		at.Store(y, dv)
	})
	finish()
}

func square() {
	function("squareAVX2", "func(dst, x *float32, n int)", "computes Square.")
	dst, src := param("dst"), param("x")
	lane.Each(param("n"), func(at lane.At) {
		x := at.Load(src)
		VMULPS(x, x, x)
		at.Store(x, dst)
	})
	finish()
}
