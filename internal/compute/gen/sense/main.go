// Command sense generates the arithmetic of sensitivities: what a layer adds to the
// covariance of a few outputs, the slopes of nonlinearities, and their reverse.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"utvi/internal/compute/gen/isa"
	"utvi/internal/compute/gen/lane"
	"utvi/internal/compute/gen/out"
)

func main() {
	dot3()
	rest()
	mulAdd()
	injectBack()
	restBack()
	leakySlopes()
	slopeSums()
	slopeEnds()
	out.Write("sense", "kernel", "isa", "lane")
}

// scalar broadcasts the float32 argument at an offset.
func scalar(name string, offset int) VecVirtual {
	v := isa.Vec()
	VBROADCASTSS(NewParamAddr(name, offset), v)
	return v
}

func dot3() {
	lane.Func("dot3Asm", "func(e, a, b *float32, n int) float32", "computes Dot3.")
	e := lane.Arg("e")
	a := lane.Arg("a")
	b := lane.Arg("b")
	sum := isa.Vecs(4)
	for _, s := range sum {
		VXORPS(s, s, s)
	}
	lane.Together(4, lane.Arg("n"), func(at []lane.At) {
		for i, at := range at {
			x := at.Load(e)
			VMULPS(at.Load(a), x, x)
			VFMADD231PS(at.Load(b), x, sum[i])
		}
	})
	VADDPS(sum[1], sum[0], sum[0])
	VADDPS(sum[3], sum[2], sum[2])
	VADDPS(sum[2], sum[0], sum[0])
	Store(isa.Sum(sum[0]), ReturnIndex(0))
	lane.End()
}

func rest() {
	lane.Func("restAsm", "func(e, total, slope, v *float32, n int)", "computes Rest.")
	e := lane.Arg("e")
	total := lane.Arg("total")
	g := lane.Arg("slope")
	v := lane.Arg("v")
	zero := isa.Vec()
	VXORPS(zero, zero, zero)
	lane.Each(lane.Arg("n"), func(at lane.At) {
		x := at.Load(g)
		VMULPS(x, x, x)
		VMULPS(at.Load(v), x, x)
		t := at.Load(total)
		VSUBPS(x, t, t)
		VMAXPS(t, zero, t)
		at.Store(t, e)
	})
	lane.End()
}

func mulAdd() {
	lane.Func("mulAddAsm", "func(dst, x, y *float32, n int)", "computes MulAdd.")
	dst := lane.Arg("dst")
	x := lane.Arg("x")
	y := lane.Arg("y")
	lane.Each(lane.Arg("n"), func(at lane.At) {
		t := at.Load(x)
		VMULPS(at.Load(y), t, t)
		VADDPS(at.Load(dst), t, t)
		at.Store(t, dst)
	})
	lane.End()
}

func injectBack() {
	lane.Func("injectBackAsm", "func(de, db, a, c, e *float32, n int, h float32)", "computes InjectBack.")
	de := lane.Arg("de")
	db := lane.Arg("db")
	a := lane.Arg("a")
	c := lane.Arg("c")
	e := lane.Arg("e")
	h := scalar("h", 48)
	lane.Each(lane.Arg("n"), func(at lane.At) {
		t := at.Load(c)
		x := at.Load(a)
		y := at.Load(e)
		VMULPS(h, t, t)
		VMULPS(t, x, x)
		VADDPS(at.Load(de), x, x)
		at.Store(x, de)
		VMULPS(t, y, y)
		VADDPS(y, y, y)
		VADDPS(at.Load(db), y, y)
		at.Store(y, db)
	})
	lane.End()
}

func restBack() {
	lane.Func("restBackAsm", "func(dm, dv, de, slope, v, gm, gv, vm, vv *float32, n int)", "computes RestBack.")
	dm := lane.Arg("dm")
	dv := lane.Arg("dv")
	de := lane.Arg("de")
	g := lane.Arg("slope")
	v := lane.Arg("v")
	gm := lane.Arg("gm")
	gv := lane.Arg("gv")
	vm, vv := lane.Arg("vm"), lane.Arg("vv")
	lane.Each(lane.Arg("n"), func(at lane.At) {
		s, d := at.Load(g), at.Load(de)
		t := at.Load(v)
		VMULPS(s, t, t)
		VADDPS(t, t, t)
		VMULPS(d, t, t)
		by := at.Load(dm)
		VSUBPS(t, by, t) // dg − 2gv·de
		x, y := at.Load(gm), at.Load(vm)
		VMULPS(t, x, x)
		VMULPS(d, y, y)
		VADDPS(y, x, x)
		at.Store(x, dm)
		VMULPS(s, s, s)
		z := at.Load(vv)
		VSUBPS(s, z, z)
		VMULPS(d, z, z)
		VMULPS(at.Load(gv), t, t)
		VADDPS(z, t, t)
		at.Store(t, dv)
	})
	lane.End()
}

func leakySlopes() {
	lane.Func("leakySlopesAsm", "func(gm, gv, mv, m, v *float32, n int)", "computes LeakySlopes.")
	gm := lane.Arg("gm")
	gv := lane.Arg("gv")
	mv := lane.Arg("mv")
	m := lane.Arg("m")
	v := lane.Arg("v")
	const less = U8(0x11)
	zero := isa.Vec()
	VXORPS(zero, zero, zero)
	lane.Each(lane.Arg("n"), func(at lane.At) {
		x := at.Load(mv)
		y := at.Load(m)
		d := at.Load(v)
		VMULPS(x, y, y)
		VADDPS(x, x, x)
		at.Store(x, gm)
		VDIVPS(d, y, y)
		some := isa.Compare(less, d, zero) // 0 < v
		VANDPS(some, y, y)
		VSUBPS(y, zero, y)
		at.Store(y, gv)
	})
	lane.End()
}

func slopeSums() {
	lane.Func("slopeSumsAsm", "func(slope, gv, f, ref, d *float32, n int, a, b float32)", "adds a point to the sums of Slopes.")
	g := lane.Arg("slope")
	gv := lane.Arg("gv")
	f := lane.Arg("f")
	ref := lane.Arg("ref")
	d := lane.Arg("d")
	a, b := scalar("a", 48), scalar("b", 52)
	lane.Each(lane.Arg("n"), func(at lane.At) {
		x, y := at.Load(f), at.Load(d)
		VSUBPS(at.Load(ref), x, x)
		VMULPS(a, x, x)
		VADDPS(at.Load(g), x, x)
		at.Store(x, g)
		VMULPS(b, y, y)
		VADDPS(at.Load(gv), y, y)
		at.Store(y, gv)
	})
	lane.End()
}

func slopeEnds() {
	lane.Func("slopeEndsAsm", "func(slope, gv, s, v, m, mm *float32, n int, small float32)", "turns sums into slopes.")
	g := lane.Arg("slope")
	gv := lane.Arg("gv")
	s := lane.Arg("s")
	v := lane.Arg("v")
	m, mm := lane.Arg("m"), lane.Arg("mm")
	small := scalar("small", 56)
	abs := isa.Vec()
	VMOVUPS(lane.Word(1<<31-1), abs)
	const less = U8(0x11)
	lane.Each(lane.Arg("n"), func(at lane.At) {
		size, bound := at.Load(s), at.Load(m)
		VANDPS(abs, bound, bound)
		VMULPS(small, bound, bound)
		VADDPS(small, bound, bound)
		tiny := isa.Compare(less, bound, size) // s < small + small·|m|
		x := at.Load(g)
		y := at.Load(gv)
		w := at.Load(v)
		VDIVPS(size, x, x)
		VSUBPS(x, y, y)
		VADDPS(w, w, w)
		VDIVPS(w, y, y)
		VANDNPS(y, tiny, y)
		at.Store(isa.Select(tiny, at.Load(mm), x), g)
		at.Store(y, gv)
	})
	lane.End()
}
