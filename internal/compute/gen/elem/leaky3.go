package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"

	"utvi/internal/compute/gen/isa"
	. "utvi/internal/compute/gen/vec"
)

// A three holds what a rule of three points and a slope a need, in the order the
// caller puts them in k: weights, ½·w·ξ and ξ of the outer points, a, 1 xor a, 1 − a.
type three struct{ w0, w1, w2, half1, half2, xi1, xi2, a, turn, less Op }

func newThree() three {
	k := Load(Param("k").Base(), GP64())
	at := func(i int) Op {
		r := isa.Vec()
		VBROADCASTSS(Mem{Base: k, Disp: 4 * i}, r)
		return spill(r)
	}
	return three{at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7), at(8), at(9)}
}

// leakyThree emits LeakyThree of package compute: nothing leaves the registers
// between points and sums.
func leakyThree() {
	pass("elemLeakyThree", "k, m, v, mean, variance", "m v", "mean variance", func() func(x []V) []V {
		k := newThree()
		return func(x []V) []V { return k.push(x[0], Sqrt(x[1]), nil) }
	})
	streams := enter("elemLeakyThreeJacobian", "k, m, v, mean, variance, mm, mv, vm, vv")
	n := count()
	in := streams("m v")
	out := streams("mean variance mm mv vm vv")
	k := newThree()
	over := func(s V) V { return Div(one(), s) }
	LoopAhead("", n, in, out, func(x []V) []V {
		s := Sqrt(x[1])
		return []V{s, over(s)}
	}, func(x, first []V) []V {
		if first == nil {
			return k.push(x[0], Sqrt(x[1]), over)
		}
		return k.push(x[0], first[0], func(V) V { return first[1] })
	})
	isa.End()
}

// slope is 1 or a, chosen by logic: the pipes of multiplications have enough to do.
func (k three) slope(x V) V {
	return Xor(And(Compare(x, Greater, Zero()), k.turn), k.a)
}

// push takes m, s = √v and, for the Jacobian, what gives 1/s.
func (k three) push(m, s V, over func(s V) V) []V {
	d1, d2 := Mul(s, k.xi1), Mul(s, k.xi2)
	var f0, g0, g1, g2, e1, e2 V
	if over != nil {
		g0 = k.slope(m)
		g1 = k.slope(Add(m, d1))
		g2 = k.slope(Add(m, d2))
		f0 = Mul(m, g0)
		e1 = AddMul(Mul(d1, g1), Sub(g1, g0), m)
		e2 = AddMul(Mul(d2, g2), Sub(g2, g0), m)
	} else { // the larger of the two branches, of which f₀ is one
		f0 = MaxOf(Mul(m, k.a), m)
		bend := Mul(m, k.less)
		right := MinOf(Zero(), bend)
		left := Sub(right, bend)
		e1 = MaxOf(Fma(Reg(k.a), d1, left), Add(d1, right))
		e2 = MaxOf(Fma(Reg(k.a), d2, left), Add(d2, right))
	}

	M := AddMul(Mul(e1, k.w1), e2, k.w2)
	mean := Add(f0, M)
	r1, r2 := Sub(e1, M), Sub(e2, M)
	q0 := Mul(M, k.w0)
	q1 := Mul(r1, k.w1)
	q2 := Mul(r2, k.w2)
	variance := AddMul(AddMul(Mul(q0, M), q1, r1), q2, r2)
	if over == nil {
		return []V{mean, variance}
	}
	some := Compare(s, NotEqual, Zero())
	inv := And(over(s), some)
	mm := AddMul(AddMul(Mul(g0, k.w0), g1, k.w1), g2, k.w2)
	mv := Mul(AddMul(Mul(g1, k.half1), g2, k.half2), inv)
	t1, t2 := Mul(q1, g1), Mul(q2, g2)
	vm := SubMul(Add(t1, t2), q0, g0)
	vv := Mul(AddMul(Mul(t1, k.xi1), t2, k.xi2), inv)
	return []V{mean, variance, Select(some, mm, g0), mv, Add(vm, vm), Select(some, vv, Mul(g0, g0))}
}
