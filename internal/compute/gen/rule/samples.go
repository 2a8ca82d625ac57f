package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"utvi/internal/compute/gen/isa"
	"utvi/internal/compute/gen/lane"
)

// sampleRef emits the mean of planes, the reference of the sums; from the first
// plane on, so that equal values have none but themselves.
func sampleRef(at []lane.At, stride GPVirtual) {
	f := lane.Arg("f")
	ref := lane.Arg("ref")
	w := number("w")
	first, sum := make([]VecVirtual, len(at)), make([]VecVirtual, len(at))
	for i, at := range at {
		first[i], sum[i] = at.Load(f), isa.Vec()
		VXORPS(sum[i], sum[i], sum[i])
	}
	planes("mean", at, func() {
		for i, at := range at {
			e := at.Load(f)
			VSUBPS(first[i], e, e)
			VADDPS(e, sum[i], sum[i])
		}
		ADDQ(stride, f)
	})
	for i, at := range at {
		VFMADD231PS(w, sum[i], first[i])
		at.Store(first[i], ref)
	}
}

// sampleSum emits the sums of Samples over the planes of f, d and ξ: as many
// elements at a time as there are registers for sums. The planes that come first
// set the reference, and their sums begin at nothing.
func sampleSum(name string, jacobian bool) {
	signature := "func(ref, e, ee, f *float32, points, n int, w float32, first int)"
	sums, together := []string{"e", "ee"}, 4
	if jacobian {
		signature = "func(ref, e, ee, f *float32, points, n int, w float32, first int, d, xi, sg, sxg, seg, sexg *float32)"
		sums, together = []string{"e", "ee", "sg", "sxg", "seg", "sexg"}, 2
	}
	lane.Func(name, signature, "adds planes of samples to their sums.")
	n := lane.Arg("n")
	stride := planeBytes(n)
	lane.Together(together, n, func(at []lane.At) {
		sum := make([][]VecVirtual, len(at))
		for i := range at {
			for range sums {
				sum[i] = append(sum[i], isa.Vec())
			}
		}
		more, ready := place("more", at), place("ready", at)
		first := lane.Arg("first")
		TESTQ(first, first)
		JZ(LabelRef(more))
		sampleRef(at, stride)
		for i := range at {
			for _, a := range sum[i] {
				VXORPS(a, a, a)
			}
		}
		JMP(LabelRef(ready))
		Label(more)
		for k, name := range sums {
			p := lane.Arg(name)
			for i, at := range at {
				VMOVAPS(at.Load(p), sum[i][k])
			}
		}
		Label(ready)
		ref, f := lane.Arg("ref"), lane.Arg("f")
		var d, xi GPVirtual
		if jacobian {
			d, xi = lane.Arg("d"), lane.Arg("xi")
		}
		planes("sum", at, func() {
			for i, at := range at {
				e := at.Load(f)
				if at.Mask == nil {
					VSUBPS(at.Memory(ref), e, e)
				} else {
					VSUBPS(at.Load(ref), e, e)
				}
				a := sum[i]
				VADDPS(e, a[0], a[0])
				VFMADD231PS(e, e, a[1])
				if !jacobian {
					continue
				}
				g, x := at.Load(d), at.Load(xi)
				VADDPS(g, a[2], a[2])
				VFMADD231PS(x, g, a[3])
				VMULPS(g, e, e)
				VADDPS(e, a[4], a[4])
				VFMADD231PS(x, e, a[5])
			}
			ADDQ(stride, f)
			if jacobian {
				ADDQ(stride, d)
				ADDQ(stride, xi)
			}
		})
		for k, name := range sums {
			p := lane.Arg(name)
			for i, at := range at {
				at.Store(sum[i][k], p)
			}
		}
	})
	lane.End()
}

// sampleMoments emits the moments of the sums.
func sampleMoments(name string, jacobian bool) {
	signature := "func(mean, variance, ref, e, ee *float32, n int, w, c float32)"
	if jacobian {
		signature = "func(mean, variance, ref, e, ee *float32, n int, w, c float32, s, slope, sg, sxg, seg, sexg, mm, mv, vm, vv *float32)"
	}
	lane.Func(name, signature, "turns the sums of samples into moments.")
	w := number("w")
	c := number("c")
	none := isa.Vec()
	VXORPS(none, none, none)
	lane.Each(lane.Arg("n"), func(at lane.At) {
		e := at.Load(lane.Arg("e"))
		v := at.Load(lane.Arg("ee"))
		m := isa.Vec()
		mean := at.Load(lane.Arg("ref"))
		VMULPS(w, e, m)
		VADDPS(m, mean, mean)
		at.Store(mean, lane.Arg("mean"))
		VFNMADD231PS(m, e, v)
		VMAXPS(v, none, v) // of a NaN and 0 the NaN
		VMULPS(c, v, v)
		at.Store(v, lane.Arg("variance"))
		if !jacobian {
			return
		}
		a := sums{mm: at.Load(lane.Arg("sg")), ms: at.Load(lane.Arg("sxg")), vm: at.Load(lane.Arg("seg")), vs: at.Load(lane.Arg("sexg"))}
		VFNMADD231PS(m, a.mm, a.vm)
		VFNMADD231PS(m, a.ms, a.vs)
		twice := isa.Vec()
		VADDPS(c, c, twice)
		VMULPS(twice, a.vm, a.vm)
		VMULPS(twice, a.vs, a.vs)
		VMULPS(w, a.mm, a.mm)
		VMULPS(w, a.ms, a.ms)
		writeJacobian(at, a, at.Load(lane.Arg("s")), at.Load(lane.Arg("slope")), 0.5)
	})
	lane.End()
}
