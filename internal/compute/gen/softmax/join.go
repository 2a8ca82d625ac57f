package main

import (
	"github.com/mmcloughlin/avo/reg"

	"utvi/internal/compute/gen/isa"
	. "utvi/internal/compute/gen/vec"
)

// Places in the work of join, and for each pair behind them.
const (
	atSmall, atLog                     = 0, side
	atTop, atBottom, atInv             = 2 * side, 3 * side, 4 * side
	joinWork                           = 5 * side
	atHigh, atLow, atSlope, atSlopes   = 0, side, 2 * side, 3 * side
	atUp, atDown, atSlopeUp, atChanges = 0, side, 2 * side, 3 * side
	pairBytes                          = 4 * side
)

// join computes l = ln(eᵃ+eᵇ), and its slopes if wanted.
func join(name string, slopes bool) {
	isa.Func(name, "func(l, a, b, nodes, work *float32)", "computes Join.")
	l := isa.Arg("l")
	a, b := isa.Arg("a"), isa.Arg("b")
	nodes, work := isa.Arg("nodes"), isa.Arg("work")
	sixteen(func() {
		c := newCurve(Abs(Sub(load(a, 0), at(b, 0))), Add(load(a, variance), at(b, variance)))
		store(c.small, work, atSmall)
		store(log1p(c.exp), work, atLog)
		for q := range joinPairs {
			put := func(x V, place int) { store(x, work, joinWork+q*pairBytes+place) }
			s := c.step(all(nodes, 4*q))
			fall := Mul(s.rise, s.down)
			put(Add(Log1p(s.rise), s.rest), atHigh)
			put(log1p(fall), atLow)
			if slopes {
				put(Mul(AddMul(Copy(c.small), c.small, s.e), s.up), atSlope)
				put(Mul(Mul(fall, c.big), Mul(Add(s.e, Const(2)), s.up)), atSlopes)
			}
		}
		joinSums(l, a, b, nodes, work, slopes)
	})
}

// shares leaves the variances of the larger one and the other, divided by the standard deviation s of their
// difference, and 1/s.
func shares(a, b, work reg.Register) {
	turn := larger(a, b)
	av, bv := load(a, variance), load(b, variance)
	_, inv := deviation(Add(av, bv))
	store(Mul(Select(turn, bv, av), inv), work, atTop)
	store(Mul(Select(turn, av, bv), inv), work, atBottom)
	store(inv, work, atInv)
}

// larger is negative where b is the larger one.
func larger(a, b reg.Register) V { return Sub(load(a, 0), at(b, 0)) }

// joinSums is the second half of join: the sums over the nodes.
func joinSums(l, a, b, nodes, work reg.Register, slopes bool) {
	shares(a, b, work)
	mean, squares := zero(), zero()
	var sum, far, across, mixed, farMixed V
	if slopes {
		sum = Mul(all(nodes, joinW), at(work, atSmall))
		far = zero()
		across = zero()
		mixed = zero()
		farMixed = zero()
	}
	for q := range joinPairs {
		get := func(place int) V { return load(work, joinWork+q*pairBytes+place) }
		w, x := all(nodes, joinW+4*(q+1)), all(nodes, 4*q)
		tilt := Mul(x, at(work, atTop))
		up, down := get(atHigh), get(atLow)
		AddMul(mean, w, Sub(up, down))
		up, down = Sub(up, tilt), Sub(tilt, down)
		AddMul(squares, w, AddMul(square(up), down, down))
		if !slopes {
			continue
		}
		high, change := get(atSlope), get(atSlopes)
		smaller := Sub(high, change)
		AddMul(sum, w, Add(high, smaller))
		AddMul(mixed, w, AddMul(Mul(up, high), down, smaller))
		x = Mul(x, w)
		AddMul(far, x, change)
		d := Sub(up, down)
		AddMul(across, x, d)
		AddMul(farMixed, x, AddMul(Mul(d, high), down, change))
	}
	m := Add(Add(MaxOf(load(a, 0), at(b, 0)), at(work, atLog)), mean)
	store(m, l, 0)
	top := load(work, atTop)
	store(AddMul(Max(0, SubMul(squares, mean, mean)), top, at(work, atBottom)), l, variance)
	if !slopes {
		return
	}
	turn := larger(a, b)
	store(Select(turn, Sub(one(), sum), sum), l, slopeMB)
	vb := twice(SubMul(mixed, mean, sum))
	store(Select(turn, Neg(vb), vb), l, slopeVB)
	inv := load(work, atInv)
	store(Mul(Mul(far, inv), Const(0.5)), l, slopeMV)
	own, other := Mul(top, inv), Mul(inv, at(work, atBottom))
	base := Mul(AddMul(SubMul(farMixed, mean, far), across, own), inv)
	lower := AddMul(Copy(base), own, own)
	upper := SubMul(AddMul(base, other, other), twice(across), inv)
	store(Select(turn, lower, upper), l, slopeVVA)
	store(Select(turn, upper, lower), l, slopeVVB)
}

func joinBack() {
	isa.Func("joinBackAsm", "func(da, db, d, l *float32)", "computes JoinBack.")
	da, db := isa.Arg("da"), isa.Arg("db")
	d, l := isa.Arg("d"), isa.Arg("l")
	sixteen(func() {
		dm, dv := load(d, 0), load(d, variance)
		toB := AddMul(Mul(dm, at(l, slopeMB)), dv, at(l, slopeVB))
		both := Mul(dm, at(l, slopeMV))
		store(Add(Sub(dm, toB), at(da, 0)), da, 0)
		store(Add(toB, at(db, 0)), db, 0)
		store(Add(AddMul(Copy(both), dv, at(l, slopeVVA)), at(da, variance)), da, variance)
		store(Add(AddMul(both, dv, at(l, slopeVVB)), at(db, variance)), db, variance)
	})
}
