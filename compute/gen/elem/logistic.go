package main

import (
	"math"

	. "utvi/compute/gen/vec"
)

// logistic returns, for t = |x| up to the given end, e⁻ᵗ in parts, e⁻ᵗ, and
// r = sigmoid(t) = 1/(1+e⁻ᵗ) if wanted.
func logistic(x V, end float32, ratio bool) (p Power, e, r V) {
	p = ExpParts(Or(Min(end, Abs(x)), Bits(1<<31)))
	e = Mul(p.Y(), p.Pow2())
	if ratio {
		r = Div(one(), Add(e, Const(1)))
	}
	return p, e, r
}

func sigmoid(x V, slope bool) (f, df V) {
	p, _, r := logistic(x, 104, true)
	low := Mul(p.Y(), r)
	f = Select(x, p.Scale(low), r)
	if slope {
		df = p.Scale(Mul(low, r))
	}
	return f, df
}

// softplus is max(x,0) + ln(1+u) with u = e^−|x|, ln(1+u) = u·poly(u).
func softplus(x V, slope bool) (f, df V) {
	p, u, r := logistic(x, 104, slope)
	q := Poly(u, Fit(func(u float64) float64 {
		if u < 1e-9 {
			return 1
		}
		return math.Log1p(u) / u
	}, 0, 1, 9))
	f = Add(p.Scale(Mul(q, p.Y())), Max(0, x))
	if slope {
		df = Select(x, p.Scale(Mul(p.Y(), r)), r)
	}
	return f, df
}

// silu is x·sigmoid(x), gated by sigmoid(−t) = e⁻ᵗ·r.
func silu(x V, slope bool) (f, df V) {
	p, _, r := logistic(x, 112, true)
	low := Mul(p.Y(), r)
	t := Min(112, Abs(x))
	f = gate(x, p.Scale(Mul(low, t)))
	if slope {
		df = gateSlope(x, p.Scale(Mul(low, SubMul(one(), t, r))))
	}
	return f, df
}

// gate returns x·G(x) for a distribution G symmetric about 0 from
// u = t·G(−t), t = |x|: x − u on the right, −u on the left.
func gate(x, u V) V { return Or(Sub(Max(0, x), u), Sign(x)) }

// gateSlope returns the slope from the one at −t: 1 − s on the right, s on the left.
func gateSlope(x, s V) V { return Select(x, s, Sub(one(), s)) }

// tanh is (1−e)/(1+e) with e = e^−2t, 1−e not by subtraction.
func tanh(x V, slope bool) (f, df V) {
	t := Min(53, Abs(x))
	p := ExpParts(Or(Add(t, t), Bits(1<<31)))
	s := p.Pow2()
	m := Sub(s, Const(1)) // e − 1 = 2ⁿ·p + (2ⁿ−1)
	AddMul(m, p.P, s)
	r := Div(one(), Add(m, Const(2)))
	f = Or(And(Mul(m, r), Bits(1<<31-1)), Sign(x))
	if slope { // 4e/(1+e)²
		r2 := Add(r, r)
		df = p.Scale(Mul(Mul(r2, r2), p.Y()))
	}
	return f, df
}
