package main

import (
	"math"

	. "utvi/internal/compute/gen/vec"
)

const (
	centreT    = 4   // |t| below which normalInverse is odd in t
	inverseEnd = 128 // |t| beyond which normalInverse leaves to scalar code
)

// normalInverse is t·poly(t²) in the centre, by rootPoly beyond. Its
// slope is sigmoid(t)·Mills(g).
func normalInverse(x V, slope bool) (f, df V) {
	inverse := func(t float64) float64 { return upperQuantile(t + math.Log1p(math.Exp(-t))) }
	t := Min(inverseEnd, Abs(x))
	w := Mul(t, t)
	mid := Mul(Poly(w, Fit(func(w float64) float64 {
		t := math.Sqrt(w)
		return inverse(t) / t
	}, 0, centreT*centreT, 10)), t)
	far := rootPoly(t, centreT, inverseEnd, 3, 12, inverse)
	g := Select(Compare(t, Less, Const(centreT)), mid, far)
	f = Or(g, Sign(x))
	if slope {
		_, _, r := logistic(t, inverseEnd, true)
		df = Mul(UpperTail(g).Mills(), r)
	}
	return f, df
}

// rootPoly evaluates f(l), which grows like √l, for lo ≤ l ≤ hi: with s = √l as
// (s+k)·poly(q), q = (s−k)/(s+k) = 1 − 2k/(s+k).
func rootPoly(l V, lo, hi, k float64, degree int, f func(float64) float64) V {
	s := Add(Sqrt(l), Const(float32(k)))
	q := Sub(one(), Div(Reg(Const(float32(2*k))), s))
	lo, hi = math.Sqrt(lo), math.Sqrt(hi)
	return Mul(s, Poly(q, Fit(func(q float64) float64 {
		s := 2 * k / (1 - q)
		return f((s-k)*(s-k)) / s
	}, (lo-k)/(lo+k), (hi-k)/(hi+k), degree)))
}

// upperQuantile solves ln Φ(−g) = −l, l ≥ ln 2, in float64: by Newton on the
// logarithm, or on erf next to g = 0.
func upperQuantile(l float64) float64 {
	if d := 0.5 - math.Exp(-l); d < 0.3 {
		g := 2 * d
		for range 8 {
			g -= (math.Erf(g/math.Sqrt2)/2 - d) / (invSqrt2Pi * math.Exp(-g*g/2))
		}
		return g
	}
	g := math.Sqrt(2 * l)
	for range 12 {
		m := Mills64(g)
		g -= (g*g/2 - math.Log(invSqrt2Pi*m) - l) * m
	}
	return g
}
