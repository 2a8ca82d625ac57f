package main

import (
	"github.com/mmcloughlin/avo/reg"

	"utvi/internal/compute/gen/isa"
	. "utvi/internal/compute/gen/vec"
)

// logistic computes the moments of 1/(1+e^(rest−x)) and adds the mean to sum.
func logistic(name string, slopes bool) {
	isa.Func(name, "func(y, sum, x, rest, nodes, work *float32)", "computes Logistic.")
	y, sum := isa.Arg("y"), isa.Arg("sum")
	x, rest := isa.Arg("x"), isa.Arg("rest")
	nodes, work := isa.Arg("nodes"), isa.Arg("work")
	sixteen(func() {
		c := newCurve(Abs(Sub(load(x, 0), at(rest, 0))), Add(load(x, variance), at(rest, variance)))
		product := Mul(c.small, c.big)
		skew := Mul(Sub(one(), c.exp), c.big) // big − small
		store(c.small, work, 0)
		store(c.big, work, side)
		store(product, work, 2*side)
		mean, squares := zero(), zero()
		for q := range logisticPairs {
			put := func(x V, place int) { store(x, work, 3*side+q*pairBytes+place) }
			s := c.step(all(nodes, logisticX+4*q))
			w := all(nodes, logisticW+4*(q+1))
			up := Mul(Mul(product, s.e), s.up)
			fall := Mul(s.e, s.down)
			down := Mul(product, fall)
			fall = Mul(fall, skew)
			AddMul(mean, w, Mul(up, fall))
			AddMul(squares, w, AddMul(square(up), down, down))
			if slopes {
				put(up, atUp)
				put(down, atDown)
				t := Mul(AddMul(Copy(product), product, s.e), s.up)
				put(Mul(t, s.up), atSlopeUp)
				put(Mul(Mul(t, fall), Add(s.up, s.down)), atChanges)
			}
		}
		d := Sub(load(x, 0), at(rest, 0)) // not negative: from the other side
		m := Select(d, Add(mean, at(work, 0)), Sub(load(work, side), mean))
		store(m, y, 0)
		store(Add(m, at(sum, 0)), sum, 0)
		store(Max(0, SubMul(squares, mean, mean)), y, variance)
		if slopes {
			logisticSums(y, x, rest, nodes, work, mean)
		}
	})
}

// logisticSums are the sums over the nodes that the slopes need.
func logisticSums(y, x, rest, nodes, work reg.Register, mean V) {
	sum := Mul(all(nodes, logisticW), at(work, 2*side))
	far, mixed := zero(), zero()
	farMixed := zero()
	for q := range logisticPairs {
		get := func(place int) V { return load(work, 3*side+q*pairBytes+place) }
		w, node := all(nodes, logisticW+4*(q+1)), all(nodes, logisticX+4*q)
		high, change := get(atSlopeUp), get(atChanges)
		low := Sub(high, change)
		AddMul(sum, w, Add(high, low))
		high = Mul(high, get(atUp))
		low = Mul(low, get(atDown))
		AddMul(mixed, w, Sub(high, low))
		w = Mul(w, node)
		AddMul(far, w, change)
		AddMul(farMixed, w, Add(high, low))
	}
	_, inv := deviation(Add(load(x, variance), at(rest, variance)))
	d := Sub(load(x, 0), at(rest, 0))
	store(sum, y, slopeMM)
	mv := Mul(Mul(far, inv), Const(0.5))
	store(Select(d, mv, Neg(mv)), y, slopeMV)
	vm := twice(SubMul(mixed, mean, sum))
	store(Select(d, vm, Neg(vm)), y, slopeVM)
	store(Mul(SubMul(farMixed, mean, far), inv), y, slopeVV)
}

func logisticBack() {
	isa.Func("logisticBackAsm", "func(dx, drest, dy, shared, sum, y *float32)", "computes LogisticBack.")
	dx, drest := isa.Arg("dx"), isa.Arg("drest")
	dy, shared := isa.Arg("dy"), isa.Arg("shared")
	sum, y := isa.Arg("sum"), isa.Arg("y")
	sixteen(func() {
		gm := Div(Sub(load(dy, 0), at(shared, 0)), at(sum, 0))
		gv := load(dy, variance)
		m := AddMul(Mul(gm, at(y, slopeMM)), gv, at(y, slopeVM))
		v := AddMul(Mul(gm, at(y, slopeMV)), gv, at(y, slopeVV))
		store(Neg(m), drest, 0)
		store(v, drest, variance)
		store(Add(m, at(dx, 0)), dx, 0)
		store(Add(v, at(dx, variance)), dx, variance)
	})
}
