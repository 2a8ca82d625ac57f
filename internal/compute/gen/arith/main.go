// Command arith generates the plain arithmetic between the products: scaling and
// adding of slices, and two looks at their size.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"

	"utvi/internal/compute/gen/isa"
	"utvi/internal/compute/gen/lane"
	"utvi/internal/compute/gen/out"
)

func main() {
	twiceMul()
	mulTo()
	scaleTo()
	subTo()
	add()
	addTwiceMul()
	anyBelow()
	squares()
	out.Write("arith", "kernel", "isa", "lane")
}

func twiceMul() {
	lane.Func("twiceMulAsm", "func(dst, x, y *float32, n int)", "computes TwiceMulTo.")
	dst := lane.Arg("dst")
	x := lane.Arg("x")
	y := lane.Arg("y")
	lane.Each(lane.Arg("n"), func(at lane.At) {
		a := at.Load(x)
		VADDPS(a, a, a)
		VMULPS(at.Load(y), a, a)
		at.Store(a, dst)
	})
	lane.End()
}

func mulTo() {
	lane.Func("mulToAsm", "func(dst, x, y *float32, n int)", "computes MulTo.")
	dst := lane.Arg("dst")
	x := lane.Arg("x")
	y := lane.Arg("y")
	lane.Each(lane.Arg("n"), func(at lane.At) {
		a := at.Load(x)
		VMULPS(at.Load(y), a, a)
		at.Store(a, dst)
	})
	lane.End()
}

func scaleTo() {
	lane.Func("scaleToAsm", "func(dst, x *float32, n int, by float32)", "computes ScaleTo.")
	dst, x := lane.Arg("dst"), lane.Arg("x")
	by := isa.Vec()
	VBROADCASTSS(NewParamAddr("by", 24), by)
	lane.Each(lane.Arg("n"), func(at lane.At) {
		a := at.Load(x)
		VMULPS(by, a, a)
		at.Store(a, dst)
	})
	lane.End()
}

func subTo() {
	lane.Func("subToAsm", "func(dst, x, y *float32, n int)", "computes SubTo.")
	dst := lane.Arg("dst")
	x := lane.Arg("x")
	y := lane.Arg("y")
	lane.Each(lane.Arg("n"), func(at lane.At) {
		a := at.Load(x)
		VSUBPS(at.Load(y), a, a)
		at.Store(a, dst)
	})
	lane.End()
}

func add() {
	lane.Func("addAsm", "func(x, y *float32, n int)", "computes Add.")
	x, y := lane.Arg("x"), lane.Arg("y")
	lane.Each(lane.Arg("n"), func(at lane.At) {
		a := at.Load(x)
		VADDPS(at.Load(y), a, a)
		at.Store(a, x)
	})
	lane.End()
}

func addTwiceMul() {
	lane.Func("addTwiceMulAsm", "func(x, y, z *float32, n int)", "computes AddTwiceMul.")
	x := lane.Arg("x")
	y := lane.Arg("y")
	z := lane.Arg("z")
	lane.Each(lane.Arg("n"), func(at lane.At) {
		a := at.Load(y)
		VADDPS(a, a, a)
		VMULPS(at.Load(z), a, a)
		VADDPS(at.Load(x), a, a)
		at.Store(a, x)
	})
	lane.End()
}

// anyBelow gathers what is below, and looks at it once in the end. A zero below
// adds no bits.
func anyBelow() {
	const less = U8(0x11) // false on NaN
	lane.Func("anyBelowAsm", "func(s, m *float32, n int, rel float32) bool", "computes AnyBelow.")
	s, m := lane.Arg("s"), lane.Arg("m")
	rel := isa.Vec()
	abs := isa.Vec()
	found := isa.Vec()
	VBROADCASTSS(NewParamAddr("rel", 24), rel)
	VMOVUPS(lane.Word(1<<31-1), abs)
	VXORPS(found, found, found)
	lane.Together(4, lane.Arg("n"), func(at []lane.At) {
		for _, at := range at {
			x, bound := at.Load(s), at.Load(m)
			VANDPS(abs, bound, bound)
			VFMADD213PS(rel, rel, bound)
			bound = isa.Compare(less, bound, x)
			VANDPS(x, bound, bound)
			VORPS(bound, found, found)
		}
	})
	isa.Any(found)
	lane.End()
}

func squares() {
	lane.Func("squaresAsm", "func(x *float32, n int) float32", "sums the squares of x, somehow.")
	x := lane.Arg("x")
	sum := isa.Vecs(4)
	for _, s := range sum {
		VXORPS(s, s, s)
	}
	lane.Together(4, lane.Arg("n"), func(at []lane.At) {
		for i, at := range at {
			v := at.Load(x)
			VFMADD231PS(v, v, sum[i])
		}
	})
	VADDPS(sum[1], sum[0], sum[0])
	VADDPS(sum[3], sum[2], sum[2])
	VADDPS(sum[2], sum[0], sum[0])
	Store(isa.Sum(sum[0]), ReturnIndex(0))
	lane.End()
}
