package main

import (
	"math"

	. "utvi/internal/compute/gen/vec"
)

const (
	invSqrt2Pi = 0.398942280401432677939946059934
	densityEnd = 15 // φ and all its multiples by the tail are zero from here
)

// density returns φ(t) in parts and φ/2ⁿ.
func density(t V) (p *Power, y V) {
	p = SquareParts(0.5, t)
	return p, Mul(p.Y(), Const(invSqrt2Pi))
}

// normalCDF is φ(t)·Mills(t) in the lower half, one minus it in the upper.
func normalCDF(x V, slope bool) (f, df V) {
	t := Min(densityEnd, Abs(x))
	m := UpperTail(t).Mills()
	p, y := density(t)
	df = p.Scale(y)
	u := Mul(df, m)
	return Select(x, u, Sub(one(), u)), df
}

// gelu is x·Φ(x), gated by Φ(−t); its slope at −t is φ(t)·(Mills(t) − t).
func gelu(x V, slope bool) (f, df V) {
	t := Min(densityEnd, Abs(x))
	m := UpperTail(t).Mills()
	p, y := density(t)
	f = gate(x, p, Mul(Mul(y, m), t))
	if slope {
		df = gateSlope(x, p.Scale(Mul(y, Sub(m, t))))
	}
	return f, df
}

// erf is x·P(w)/Q(w) in w = x², up to where it is 1.
func erf(x V, slope bool) (f, df V) {
	const end = 3.925
	c := Max(-end, Min(end, x))
	w := Mul(c, c)
	P, Q := FitRatio(func(w float64) float64 {
		if w < 1e-9 {
			return 2 / math.SqrtPi
		}
		r := math.Sqrt(w)
		return math.Erf(r) / r
	}, 0, end*end, 6, 5)
	f = Mul(Div(Poly(w, P), Poly(w, Q)), c)
	if slope {
		p := SquareParts(1, Min(10.5, Abs(x)))
		df = p.Scale(Mul(p.Y(), Const(2/math.SqrtPi)))
	}
	return f, df
}
