package vec

import "math"

// Log returns ln x for x > 0 that is neither subnormal nor infinite. With
// x = 2ⁿ·m, m between √½ and √2, and f = m − 1: ln x = n·ln 2 + f + f²·p(f).
func Log(x V) V { return logPlus(x, nil) }

// Log1p returns ln(1+x) for x from 0 to 2¹²⁰, also where it is small.
func Log1p(x V) V {
	y := Add(x, Const(1))
	return logPlus(y, Sub(x, Sub(y, Const(1))))
}

// logPlus returns ln(x+rest), for a rest that rounding took from x or none.
func logPlus(x, rest V) V {
	exponent := right(subInt(x, Const(math.Sqrt2/2)), 23)
	m := subInt(x, left(exponent, 23))
	n := toFloat(exponent)
	f := Sub(m, Const(1))
	if rest != nil {
		AddMul(f, rest, subInt(Reg(Const(1)), left(exponent, 23)))
	}
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
