package vec

import "math"

// SinCosEnd is how far SinCos reaches.
const SinCosEnd = 1 << 16

// SinCos returns sin x and cos x for |x| ≤ SinCosEnd, relative to the value
// itself even next to a zero: x − n·π/2 with π/2 in three float32 parts is
// exact in its first step and rounded twice by fused steps after.
func SinCos(x V) (sin, cos V) {
	t := AddMul(Reg(Const(magic)), x, Const(2/math.Pi))
	n := Sub(t, Const(magic))
	hi, mid, low := halfPi()
	r := Copy(x)
	SubMul(r, n, Const(hi))
	SubMul(r, n, Const(mid))
	SubMul(r, n, Const(low))
	w := Mul(r, r)

	const end = 0.64 // (π/4)² and what rounding n adds
	s := Poly(w, Fit(func(w float64) float64 {
		if w < 1e-3 {
			return -1./6 + w*(1./120-w/5040)
		}
		r := math.Sqrt(w)
		return (math.Sin(r)/r - 1) / w
	}, 0, end, 3))
	s = Mul(Fma(s, w, Const(1)), r) // last, for the sign of zero
	c := Poly(w, Fit(func(w float64) float64 {
		if w < 1e-3 {
			return -0.5 + w*(1./24-w*(1./720-w/40320))
		}
		return (math.Cos(math.Sqrt(w)) - 1) / w
	}, 0, end, 4))
	Fma(c, w, Const(1))

	// Quadrant n mod 4: bit 0 swaps, bit 1 negates sin, bit 0 xor bit 1 cos.
	odd := left(t, 31)
	sin, cos = Select(odd, c, s), Select(odd, s, c)
	sign := Sign(left(t, 30))
	return Xor(sin, sign), Xor(cos, Xor(sign, odd))
}

// halfPi is π/2 in three float32, none negative: x = −0 then stays −0.
func halfPi() (hi, mid, low float32) {
	const beyond = 6.123233995736766e-17 // π/2 less its float64
	down := func(x float64) float32 {
		f := float32(x)
		if float64(f) > x {
			f = math.Nextafter32(f, 0)
		}
		return f
	}
	hi = down(math.Pi / 2)
	mid = down(math.Pi/2 - float64(hi))
	return hi, mid, float32(math.Pi/2 - float64(hi) - float64(mid) + beyond)
}
