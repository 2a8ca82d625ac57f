package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"utvi/internal/compute/gen/isa"
	"utvi/internal/compute/gen/lane"
)

// The factors of combine3, in the order the caller puts them in k: weights w,
// c·w, ½·w·ξ and ξ by point.
const (
	w0 = iota
	w1
	w2
	cw0
	cw1
	cw2
	half1
	half2
	xi1
	xi2
)

// combine3 emits the sums over three points, unrolled. Point 0 is the reference
// and has ξ = 0, so e₀ = 0 and e₀−M = −M: the hot path of every unscented rule.
func combine3(name string, jacobian bool) {
	signature := "func(mean, variance, f0, f1, f2 *float32, n int, k *[10]float32)"
	if jacobian {
		signature = "func(mean, variance, f0, f1, f2 *float32, n int, k *[10]float32, s, d0, d1, d2, mm, mv, vm, vv *float32)"
	}
	lane.Func(name, signature, "sums over three points, the first the reference with ξ = 0.")
	var f, d [3]GPVirtual
	for p := range f {
		f[p] = lane.Arg([]string{"f0", "f1", "f2"}[p])
		if jacobian {
			d[p] = lane.Arg([]string{"d0", "d1", "d2"}[p])
		}
	}
	mean, variance := lane.Arg("mean"), lane.Arg("variance")
	table := lane.Arg("k")
	k := map[int]Op{}
	for _, i := range []int{w1, w2, cw0, cw1, cw2} {
		k[i] = broadcast(Mem{Base: table, Disp: 4 * i})
	}
	if jacobian { // those used once a step come from the stack
		local := lane.Vectors(5)
		for i, c := range []int{w0, half1, half2, xi1, xi2} {
			m := local.Offset(isa.Bytes * i)
			VMOVUPS(broadcast(Mem{Base: table, Disp: 4 * c}), m)
			k[c] = m
		}
	}

	lane.Each(lane.Arg("n"), func(at lane.At) {
		v0 := at.Load(f[0])
		r1 := at.Load(f[1])
		r2 := at.Load(f[2])
		m := isa.Vec()
		VSUBPS(v0, r1, r1)
		VSUBPS(v0, r2, r2)
		VMULPS(k[w1], r1, m)
		VFMADD231PS(k[w2], r2, m)
		VADDPS(m, v0, v0)
		at.Store(v0, mean)

		VSUBPS(m, r1, r1)
		VSUBPS(m, r2, r2)
		q0 := isa.Vec()
		q1 := isa.Vec()
		q2 := isa.Vec()
		v := isa.Vec()
		VMULPS(k[cw0], m, q0)
		VMULPS(k[cw1], r1, q1)
		VMULPS(k[cw2], r2, q2)
		VMULPS(q0, m, v)
		VFMADD231PS(q1, r1, v)
		VFMADD231PS(q2, r2, v)
		at.Store(v, variance)
		if !jacobian {
			return
		}

		a := sums{mm: isa.Vec(), ms: isa.Vec(), vm: q1, vs: isa.Vec()}
		g := at.Load(d[1])
		VMULPS(k[w1], g, a.mm)
		VMULPS(k[half1], g, a.ms)
		VMULPS(g, q1, a.vm)
		VMULPS(k[xi1], a.vm, a.vs)
		g = at.Load(d[2])
		VFMADD231PS(k[w2], g, a.mm)
		VFMADD231PS(k[half2], g, a.ms)
		VMULPS(g, q2, q2)
		VADDPS(q2, a.vm, a.vm)
		VFMADD231PS(k[xi2], q2, a.vs)
		g = at.Load(d[0])
		VFMADD231PS(k[w0], g, a.mm)
		VFNMADD231PS(q0, g, a.vm)
		VADDPS(a.vm, a.vm, a.vm)
		writeJacobian(at, a, at.Load(lane.Arg("s")), g, 1)
	})
	lane.End()
}
