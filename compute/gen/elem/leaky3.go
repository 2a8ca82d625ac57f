package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"

	. "utvi/compute/gen/vec"
)

// A three holds what a rule of three points and a slope a need, in the order the
// caller puts them in k: weights, ½·w·ξ and ξ of the outer points, a, and 1 xor a.
type three struct{ w0, w1, w2, half1, half2, xi1, xi2, a, turn Mem }

func newThree() three {
	k := Load(Param("k").Base(), GP64())
	at := func(i int) Mem {
		r := YMM()
		VBROADCASTSS(Mem{Base: k, Disp: 4 * i}, r)
		return spill(r)
	}
	return three{at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7), at(8)}
}

// leakyThree emits points, leaky-ReLU and sums in one pass: nothing but s leaves
// the registers in between.
func leakyThree() {
	pass("elemLeakyThree", "k, m, v, s, mean, variance", "m v", "s mean variance", func() func(x []V) []V {
		k := newThree()
		return func(x []V) []V { return k.push(x[0], x[1], false) }
	})
	pass("elemLeakyThreeJacobian", "k, m, v, s, mean, variance, mm, mv, vm, vv", "m v", "s mean variance mm mv vm vv", func() func(x []V) []V {
		k := newThree()
		return func(x []V) []V { return k.push(x[0], x[1], true) }
	})
}

// leaky returns the value, the larger of x and a·x, and the slope if it is wanted.
func (k three) leaky(x V, slope bool) (f, g V) {
	if !slope {
		return MaxOf(Mul(x, k.a), x), nil
	}
	g = Xor(And(Compare(x, Greater, Zero()), k.turn), k.a)
	return Mul(x, g), g
}

// push is Points, Eval and Combine of package compute.
func (k three) push(m, v V, jacobian bool) []V {
	s := Sqrt(v)
	f0, g0 := k.leaky(m, jacobian)
	f1, g1 := k.leaky(Fma(Reg(k.xi1), s, m), jacobian)
	f2, g2 := k.leaky(Fma(Reg(k.xi2), s, m), jacobian)

	e1, e2 := Sub(f1, f0), Sub(f2, f0)
	M := AddMul(Mul(e1, k.w1), e2, k.w2)
	mean := Add(f0, M)
	r1, r2 := Sub(e1, M), Sub(e2, M)
	q0, q1, q2 := Mul(M, k.w0), Mul(r1, k.w1), Mul(r2, k.w2)
	variance := AddMul(AddMul(Mul(q0, M), q1, r1), q2, r2)
	if !jacobian {
		return []V{s, mean, variance}
	}
	some := Compare(s, NotEqual, Zero())
	inv := And(Div(one(), s), some)
	mm := AddMul(AddMul(Mul(g0, k.w0), g1, k.w1), g2, k.w2)
	mv := Mul(AddMul(Mul(g1, k.half1), g2, k.half2), inv)
	t1, t2 := Mul(q1, g1), Mul(q2, g2)
	vm := SubMul(Add(t1, t2), q0, g0)
	vv := Mul(AddMul(Mul(t1, k.xi1), t2, k.xi2), inv)
	return []V{s, mean, variance, Select(some, mm, g0), mv, Add(vm, vm), Select(some, vv, Mul(g0, g0))}
}
