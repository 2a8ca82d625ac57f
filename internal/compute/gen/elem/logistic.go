package main

import (
	"math"

	. "utvi/internal/compute/gen/vec"
)

// logistic returns, for t = |x| up to the given end, e⁻ᵗ in parts, e⁻ᵗ, and
// r = sigmoid(t) = 1/(1+e⁻ᵗ) if wanted.
func logistic(x V, end float32, ratio bool) (p *Power, e, r V) {
	p = ExpParts(minusAbs(x, end))
	e = p.Scale(p.Y())
	if ratio {
		r = Div(one(), Add(e, Const(1)))
	}
	return p, e, r
}

// minusAbs returns −|x|, −end at least.
func minusAbs(x V, end float32) V { return Max(-end, Or(x, Bits(1<<31))) }

// sigmoid is e·r on the left, r on the right; r is 1 where e is subnormal, so
// that e is rounded once.
func sigmoid(x V, slope bool) (f, df V) {
	_, e, r := logistic(x, 104, true)
	low := Mul(e, r)
	f = Select(x, low, r)
	if slope {
		df = Mul(low, r)
	}
	return f, df
}

// softplus is max(x,0) + ln(1+u) with u = e^−|x|, ln(1+u) = u·poly(u).
func softplus(x V, slope bool) (f, df V) {
	_, u, r := logistic(x, 104, slope)
	q := Poly(u, Fit(func(u float64) float64 {
		if u < 1e-9 {
			return 1
		}
		return math.Log1p(u) / u
	}, 0, 1, 8))
	f = Fma(q, u, Max(0, x))
	if slope {
		df = Select(x, Mul(u, r), r)
	}
	return f, df
}

// silu is x·sigmoid(x), gated by sigmoid(−t) = e⁻ᵗ·r; its slope at −t is
// e⁻ᵗ·r·(1 − t·r).
func silu(x V, slope bool) (f, df V) {
	p, _, r := logistic(x, siluEnd, true)
	t := Min(siluEnd, Abs(x))
	low := Mul(p.Y(), r)
	if slope {
		df = Mul(SubMul(Reg(Const(1)), r, t), low)
	}
	f = gate(x, p, Mul(low, t))
	if slope {
		df = gateSlope(x, p.Scale(df))
	}
	return f, df
}

const siluEnd = 112 // t·e⁻ᵗ is zero from here

// gate returns x·G(x) for a distribution G symmetric about 0 from
// u·2ⁿ = t·G(−t), t = |x|: max(x,0) − u·2ⁿ. The sign of a zero survives.
func gate(x V, p *Power, u V) V { return p.LessScaled(Max(0, x), u) }

// gateSlope returns the slope from the one at −t: 1 − s on the right, s on the left.
func gateSlope(x, s V) V { return Select(x, s, Sub(one(), s)) }

// tanh is (1−e)/(1+e) with e = e^−2t, 1−e not by subtraction.
func tanh(x V, slope bool) (f, df V) {
	t := minusAbs(x, 53)
	p := ExpParts(Add(t, t))
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
