package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"utvi/internal/compute/gen/isa"
	"utvi/internal/compute/gen/lane"
)

// A pair is the same value of both Box–Muller transforms of a group: the two
// run side by side to hide latency.
type pair [2]VecVirtual

func (a pair) each(f func(src, dst Op)) pair {
	d := pair{isa.Vec(), isa.Vec()}
	for i := range d {
		f(a[i], d[i])
	}
	return d
}

func (a pair) mul(b Op) pair     { return a.each(func(s, d Op) { VMULPS(b, s, d) }) }
func (a pair) add(b Op) pair     { return a.each(func(s, d Op) { VADDPS(b, s, d) }) }
func (a pair) float() pair       { return a.each(func(s, d Op) { VCVTDQ2PS(s, d) }) }
func (a pair) times(b pair) pair { return a.with(b, func(x, y, d Op) { VMULPS(x, y, d) }) }
func (a pair) plus(b pair) pair  { return a.with(b, func(x, y, d Op) { VADDPS(x, y, d) }) }
func (a pair) minus(b pair) pair { return a.with(b, func(x, y, d Op) { VSUBPS(y, x, d) }) }

func (a pair) with(b pair, f func(x, y, dst Op)) pair {
	d := pair{isa.Vec(), isa.Vec()}
	for i := range d {
		f(a[i], b[i], d[i])
	}
	return d
}

// radius and direction are those of rng, operation by operation.
func radius(w pair) pair {
	const rootHalf = 0x3f3504f3
	x := w.each(func(s, d Op) { VPSRLD(Imm(1), s, d) }).float().add(lane.Float(0.5))
	i := x.each(func(s, d Op) { VPSUBD(lane.Word(rootHalf+31<<23), s, d) })
	e := i.each(func(s, d Op) { VPSRAD(Imm(23), s, d) }).float()
	f := i.each(func(s, d Op) {
		and(lane.Word(0x7fffff), s, d)
		VPADDD(lane.Word(rootHalf), d, d)
		VSUBPS(lane.Float(1), d, d)
	})
	g := f.times(f)
	a := f.mul(lane.Float(-0.6666780629451594)).add(lane.Float(0.9999996851134522))
	b := f.mul(lane.Float(-0.3992893356766597)).add(lane.Float(0.500050590820681))
	ab := b.times(g).plus(a)
	c := f.mul(lane.Float(-0.29749903447874526)).add(lane.Float(0.3310563940615126))
	d := f.mul(lane.Float(-0.17992173722662144)).add(lane.Float(0.28839304438332924))
	cd := d.times(g).plus(c)
	q := g.times(g).times(cd).plus(ab)
	l := g.times(q).minus(f.plus(f)).plus(e.mul(lane.Float(-2 * math.Ln2)))
	return l.each(func(s, d Op) { VSQRTPS(s, d) })
}

func direction(t pair) (c, s pair) {
	x := t.each(func(s, d Op) { VPSLLD(Imm(2), s, d) }).float().mul(lane.Float(math.Pi / 4 / (1 << 31)))
	z := x.times(x)
	s = z.mul(lane.Float(-0.00019517299007265108)).add(lane.Float(0.00833217814636727))
	s = s.times(z).add(lane.Float(-0.16666654943704504))
	s = x.times(z).times(s).plus(x)
	c = z.mul(lane.Float(-0.0013597823107792753)).add(lane.Float(0.04165629457830389))
	c = c.times(z).add(lane.Float(-0.4999989478136719))
	c = c.times(z).add(lane.Float(1))
	c = c.with(t, func(x, y, d Op) {
		and(lane.Word(1<<31), y, d)
		VXORPS(x, d, d)
	})
	turn := t.each(func(s, d Op) { VPSLLD(Imm(1), s, d) })
	var first, second pair
	for i := range turn {
		first[i] = isa.Select(turn[i], s[i], c[i])
		second[i] = isa.Select(turn[i], c[i], s[i])
	}
	return first, second
}
