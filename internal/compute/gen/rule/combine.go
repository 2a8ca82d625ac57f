package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"utvi/internal/compute/gen/isa"
	"utvi/internal/compute/gen/lane"
)

// combine emits the sums of a rule (see Combine in package compute) for any
// number of points: a loop for M and another for the rest.
func combine(name string, jacobian bool) {
	signature := "func(mean, variance, f, f0, w *float32, points, n int, c float32)"
	if jacobian {
		signature = "func(mean, variance, f, f0, w *float32, points, n int, c float32, s, d, d0, xi, mm, mv, vm, vv *float32)"
	}
	lane.Func(name, signature, "sums over the planes of f.")
	n, stride := lane.Arg("n"), GP64()
	MOVQ(n, stride)
	SHLQ(Imm(2), stride)
	loops(n, stride, jacobian)
	lane.End()
}

// sums are the sums over the points: w(e−M)², w f', w ξ f', w(e−M)f', w(e−M)ξ f'.
type sums struct{ v, mm, ms, vm, vs VecVirtual }

// add adds a point with residual r = e − M, which it uses up, weight w, slope g
// (used up too) and node xi to the sums.
func (a sums) add(r, w, g, xi VecVirtual) {
	q := isa.Vec()
	VMULPS(w, r, q)
	VFMADD231PS(q, r, a.v)
	if g == nil {
		return
	}
	t := r
	VMULPS(q, g, t)
	VMULPS(w, g, g)
	VADDPS(g, a.mm, a.mm)
	VFMADD231PS(xi, g, a.ms)
	VADDPS(t, a.vm, a.vm)
	VFMADD231PS(xi, t, a.vs)
}

func zeros(jacobian bool) (a sums) {
	zero := func() VecVirtual {
		z := isa.Vec()
		VXORPS(z, z, z)
		return z
	}
	a.v = zero()
	if jacobian {
		a.mm = zero()
		a.ms = zero()
		a.vm = zero()
		a.vs = zero()
	}
	return a
}

func broadcast(m Mem) VecVirtual {
	v := isa.Vec()
	VBROADCASTSS(m, v)
	return v
}

// number is the float32 argument of that name in all lanes.
func number(name string) VecVirtual {
	address, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return broadcast(address.Addr)
}

// write finishes the moments. The pointers used once per step stay on the
// stack: there are more of them than registers.
func (a sums) write(at lane.At, jacobian bool) {
	c := number("c")
	VMULPS(c, a.v, a.v)
	at.Store(a.v, lane.Arg("variance"))
	if !jacobian {
		return
	}
	VADDPS(c, c, c)
	VMULPS(c, a.vm, a.vm)
	VMULPS(c, a.vs, a.vs)

	writeJacobian(at, a, at.Load(lane.Arg("s")), at.Load(lane.Arg("d0")), 0.5)
}

// writeJacobian multiplies the sums by ξ with by/s and writes the Jacobian; at
// s = 0 its limits, by the slope g at the reference.
func writeJacobian(at lane.At, a sums, s, g VecVirtual, by float32) {
	none, h := isa.Vec(), isa.Vec()
	VXORPS(none, none, none)
	atZero := isa.Compare(0, s, none)
	VMOVUPS(lane.Float(by), h)
	VDIVPS(s, h, h)
	VMULPS(h, a.ms, a.ms)
	VMULPS(h, a.vs, a.vs)
	a.mm = isa.Select(atZero, g, a.mm)
	VMULPS(g, g, g)
	a.vs = isa.Select(atZero, g, a.vs)
	VANDNPS(a.ms, atZero, a.ms)
	VANDNPS(a.vm, atZero, a.vm)
	at.Store(a.mm, lane.Arg("mm"))
	at.Store(a.ms, lane.Arg("mv"))
	at.Store(a.vm, lane.Arg("vm"))
	at.Store(a.vs, lane.Arg("vv"))
}

// loops takes any number of points. Without a Jacobian there are registers for
// two vectors at a time.
func loops(n, stride GPVirtual, jacobian bool) {
	vectors := 2
	if jacobian {
		vectors = 1
	}
	lane.Together(vectors, n, func(at []lane.At) {
		f0, m := make([]VecVirtual, len(at)), make([]VecVirtual, len(at))
		from := lane.Arg("f0")
		for i := range at {
			f0[i], m[i] = at[i].Load(from), isa.Vec()
			VXORPS(m[i], m[i], m[i])
		}
		// over emits body for each point and vector, with e = f − f_ref.
		over := func(label string, body func(i int, e, w VecVirtual)) {
			pf := lane.Arg("f")
			pw := lane.Arg("w")
			left := lane.Arg("points")
			Label(label)
			w := broadcast(Mem{Base: pw})
			for i := range at {
				e := at[i].Load(pf)
				VSUBPS(f0[i], e, e)
				body(i, e, w)
			}
			ADDQ(stride, pf)
			ADDQ(Imm(4), pw)
			DECQ(left)
			JNZ(LabelRef(label))
		}
		over(place("mean", at), func(i int, e, w VecVirtual) { VFMADD231PS(w, e, m[i]) })

		a := make([]sums, len(at))
		for i := range at {
			mean := isa.Vec()
			VADDPS(m[i], f0[i], mean)
			at[i].Store(mean, lane.Arg("mean"))
			a[i] = zeros(jacobian)
		}
		var pd, px GPVirtual
		if jacobian {
			pd, px = lane.Arg("d"), lane.Arg("xi")
		}
		over(place("sums", at), func(i int, e, w VecVirtual) {
			VSUBPS(m[i], e, e)
			var g, xi VecVirtual
			if jacobian {
				g = at[i].Load(pd)
				ADDQ(stride, pd)
				xi = broadcast(Mem{Base: px})
				ADDQ(Imm(4), px)
			}
			a[i].add(e, w, g, xi)
		})
		for i := range at {
			a[i].write(at[i], jacobian)
		}
	})
}
