// Command larger generates the arithmetic of maxima: the larger of two Normals, its slopes and
// their reverse.
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
	differences()
	moments()
	slopes()
	reverse()
	out.Write("larger", "kernel", "isa", "lane")
}

const equal, atMost = U8(0), U8(0x12)

// A couple is two Normals where a loop stands, by their pointers.
type couple struct {
	at             lane.At
	m1, v1, m2, v2 Register
}

func args() couple {
	return couple{m1: lane.Arg("m1"), v1: lane.Arg("v1"), m2: lane.Arg("m2"), v2: lane.Arg("v2")}
}

// difference is the mean of the smaller one less the larger one, and the variance.
func (c couple) difference() (d, s VecVirtual) {
	d, back := c.at.Load(c.m1), c.at.Load(c.m2)
	t := isa.Vec()
	VSUBPS(back, d, t)
	VSUBPS(d, back, back)
	VMINPS(t, back, back)
	s = c.at.Load(c.v1)
	VADDPS(c.at.Load(c.v2), s, s)
	return back, s
}

// positive replaces zeros by ones.
func positive(s VecVirtual) VecVirtual {
	zero, one := isa.Vec(), isa.Vec()
	isa.Clear(zero)
	VMOVUPS(lane.Float(1), one)
	return isa.Select(isa.Compare(equal, zero, s), one, s)
}

// first is all ones where the first has the larger mean, or the same.
func (c couple) first() VecVirtual { return isa.Compare(atMost, c.at.Load(c.m1), c.at.Load(c.m2)) }

// sorted are the variances of the one with the larger mean and of the other.
func (c couple) sorted(first VecVirtual) (high, low VecVirtual) {
	v1, v2 := c.at.Load(c.v1), c.at.Load(c.v2)
	return isa.Select(first, v1, v2), isa.Select(first, v2, v1)
}

func differences() {
	lane.Func("differencesAsm", "func(mean, variance, m1, v1, m2, v2 *float32, n int)", "computes Differences.")
	mean, variance := lane.Arg("mean"), lane.Arg("variance")
	c := args()
	lane.Each(lane.Arg("n"), func(at lane.At) {
		c.at = at
		d, s := c.difference()
		at.Store(d, mean)
		at.Store(s, variance)
	})
	lane.End()
}

// shares are the parts of the variances of the one with the larger mean and of the other that
// the maximum keeps: 1 − (u + 2μ(μ−d))/s and u/s.
func shares(d, s, mu, u VecVirtual) (high, low VecVirtual) {
	high, low = isa.Vec(), isa.Vec()
	t := isa.Vec()
	VSUBPS(d, mu, t)
	VADDPS(mu, mu, high)
	VMULPS(t, high, high)
	VADDPS(u, high, high)
	VDIVPS(s, high, high)
	VMOVUPS(lane.Float(1), t)
	VSUBPS(high, t, high)
	VDIVPS(s, u, low)
	return high, low
}

func moments() {
	lane.Func("largerMomentsAsm", "func(m, v, m1, v1, m2, v2, mu, u *float32, n int)", "computes LargerMoments.")
	m, v := lane.Arg("m"), lane.Arg("v")
	c := args()
	mu, u := lane.Arg("mu"), lane.Arg("u")
	lane.Each(lane.Arg("n"), func(at lane.At) {
		c.at = at
		d, s := c.difference()
		by := at.Load(mu)
		high, low := shares(d, positive(s), by, at.Load(u))
		is := c.first()
		a, b := c.sorted(is)
		VMULPS(a, high, high)
		VMULPS(b, low, low)
		VADDPS(low, high, high)
		top := isa.Select(is, at.Load(c.m1), at.Load(c.m2))
		VADDPS(by, top, top)
		at.Store(top, m)
		at.Store(high, v)
	})
	lane.End()
}

func slopes() {
	lane.Func("largerSlopesAsm", "func(mm1, mm2, vm, vv1, vv2, m1, v1, m2, v2, mu, u *float32, n int)", "computes LargerSlopes.")
	mm1, mm2 := lane.Arg("mm1"), lane.Arg("mm2")
	vm := lane.Arg("vm")
	vv1, vv2 := lane.Arg("vv1"), lane.Arg("vv2")
	c := args()
	mu, u := lane.Arg("mu"), lane.Arg("u")
	lane.Each(lane.Arg("n"), func(at lane.At) {
		c.at = at
		d, s := c.difference()
		s = positive(s)
		is := c.first()
		by, chance := at.Load(mu), at.Load(mm2)
		rest := isa.Vec()
		VMOVUPS(lane.Float(1), rest)
		VSUBPS(chance, rest, rest)
		at.Store(isa.Select(is, rest, chance), mm1)
		at.Store(isa.Select(is, chance, rest), mm2)
		a, b := c.sorted(is)
		VDIVPS(s, a, a)
		VDIVPS(s, b, b)
		t := isa.Vec()
		VSUBPS(d, by, t)
		VMULPS(t, a, a)
		VMULPS(chance, a, a)
		VMULPS(by, b, b)
		VMULPS(rest, b, b)
		VSUBPS(b, a, a)
		VADDPS(a, a, a)
		VXORPS(t, t, t)
		VSUBPS(a, t, t)
		at.Store(isa.Select(is, a, t), vm)
		VMULPS(d, a, a)
		VADDPS(s, s, t)
		VDIVPS(t, a, a)
		high, low := shares(d, s, by, at.Load(u))
		VADDPS(a, high, high)
		VADDPS(a, low, low)
		at.Store(isa.Select(is, high, low), vv1)
		at.Store(isa.Select(is, low, high), vv2)
	})
	lane.End()
}

func reverse() {
	lane.Func("largerBackAsm", "func(dm, dv, gm, gv, mm1, mm2, mv, vm, vv1, vv2 *float32, n int)", "computes LargerBack.")
	dm, dv := lane.Arg("dm"), lane.Arg("dv")
	g, h := lane.Arg("gm"), lane.Arg("gv")
	mm1, mm2 := lane.Arg("mm1"), lane.Arg("mm2")
	mv, vm := lane.Arg("mv"), lane.Arg("vm")
	vv1, vv2 := lane.Arg("vv1"), lane.Arg("vv2")
	lane.Each(lane.Arg("n"), func(at lane.At) {
		x, y := at.Load(g), at.Load(h)
		a, b := at.Load(vm), at.Load(mv)
		VMULPS(y, a, a)
		VMULPS(x, b, b)
		t := at.Load(mm2)
		VMULPS(x, t, t)
		VSUBPS(a, t, t)
		at.Store(t, dm)
		t = at.Load(vv2)
		VMULPS(y, t, t)
		VADDPS(b, t, t)
		at.Store(t, dv)
		t = at.Load(mm1)
		VMULPS(x, t, t)
		VADDPS(a, t, t)
		at.Store(t, g)
		t = at.Load(vv1)
		VMULPS(y, t, t)
		VADDPS(b, t, t)
		at.Store(t, h)
	})
	lane.End()
}
