package vec

// Poly returns c[0] + c[1]·x + … as two Horner chains, of the even and the odd
// powers, to halve the wait.
func Poly(x V, c []float64) V {
	if len(c) < 5 {
		return horner(x, c, 1)
	}
	return PolySquare(x, Mul(x, x), c)
}

// PolySquare is Poly where x² is at hand.
func PolySquare(x, x2 V, c []float64) V {
	return AddMul(horner(x2, c, 2), horner(x2, c[1:], 2), x)
}

// horner evaluates every step-th coefficient in powers of x.
func horner(x V, c []float64, step int) V {
	last := (len(c) - 1) / step * step
	acc := Reg(Const(float32(c[last])))
	for i := last - step; i >= 0; i -= step {
		Fma(acc, x, Const(float32(c[i])))
	}
	return acc
}
