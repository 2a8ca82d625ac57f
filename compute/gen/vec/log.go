package vec

import "math"

// Log returns ln x within 1.3 ulp for every x: −Inf at 0, NaN below,
// subnormals like all others.
func Log(x V) V {
	const tiny, shift = 0x1p-126, 23
	small := Compare(x, Less, Const(tiny))
	y := LogNormal(Select(small, Mul(x, Const(1<<shift)), x), And(small, Const(shift)))
	y = Select(Compare(x, Less, Const(float32(math.Inf(1)))), y, x) // Inf and NaN
	zero := Zero()
	bad := Or(Compare(x, Less, zero), Const(float32(math.Inf(-1)))) // NaN below 0, else −Inf
	return Select(Compare(x, AtMost, zero), bad, y)
}

// LogNormal returns ln(x·2⁻ᵏ) for normal positive x, k an integer as float32
// (nil: 0). With x = 2ⁿ·m, m between √½ and √2, and f = m − 1:
// ln x = n·ln 2 + f + f²·p(f).
func LogNormal(x, k V) V {
	exponent := right(subInt(x, Const(math.Sqrt2/2)), 23)
	m := subInt(x, left(exponent, 23))
	n := toFloat(exponent)
	if k != nil {
		n = Sub(n, k)
	}
	f := Sub(m, Const(1))
	f2 := Mul(f, f)
	p := PolySquare(f, f2, Fit(func(f float64) float64 {
		if math.Abs(f) < 1e-3 {
			return -0.5 + f*(1./3-f*(1./4-f/5))
		}
		return (math.Log1p(f) - f) / (f * f)
	}, math.Sqrt2/2-1, math.Sqrt2-1, 7))
	hi, lo := split(math.Ln2)
	// The small terms first: the last addition rounds once.
	s := Mul(n, Const(lo))
	AddMul(s, f2, p)
	s = Add(s, f)
	return AddMul(s, n, Const(hi))
}
