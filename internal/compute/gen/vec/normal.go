package vec

import "math"

const (
	invSqrt2Pi = 0.398942280401432677939946059934
	millsPole  = 2.5 // the variable is d = 1/(t+millsPole)
	millsEnd   = 17  // and t ends here
)

// An Upper gives the Normal's upper tail at t ≥ 0 over its density: the
// integrals Iₙ(t) of xⁿ·φ(t+x)/φ(t) over x > 0 as dⁿ⁺¹·polynomial(q), with
// d = 1/(t+2.5) and q = (t−2.5)·d between −1 and 1.
type Upper struct{ D, Q V }

// UpperTail prepares the variables for 0 ≤ t ≤ 17 or NaN.
func UpperTail(t V) Upper {
	d := Div(Reg(Const(1)), Add(t, Const(millsPole)))
	return Upper{d, Mul(Sub(t, Const(millsPole)), d)}
}

// Mills returns I₀, the Mills ratio Φ(−t)/φ(t).
func (u Upper) Mills() V { return Mul(Poly(u.Q, fitUpper(0, 9)), u.D) }

// First returns I₁ = 1 − t·I₀ and Second I₂ = I₀ − t·I₁.
func (u Upper) First() V { return Mul(Mul(Poly(u.Q, fitUpper(1, 10)), u.D), u.D) }
func (u Upper) Second() V {
	return Mul(Mul(Poly(u.Q, fitUpper(2, 12)), u.D), Mul(u.D, u.D))
}

// fitUpper fits Iₙ·(t+2.5)ⁿ⁺¹ as a polynomial in q.
func fitUpper(n, degree int) []float64 {
	return Fit(func(q float64) float64 {
		s := 2 * millsPole / (1 - q) // t+2.5
		return upper(s - millsPole)[n] * math.Pow(s, float64(n+1))
	}, -1, 1-2*millsPole/(millsPole+float64(millsEnd)), degree)
}

// upper are I₀, I₁, I₂ in float64 by the recurrence Iₙ₊₁ = n·Iₙ₋₁ − t·Iₙ: upwards
// near 0; else downwards, where it is stable from any start.
func upper(t float64) [3]float64 {
	if t < 1 {
		m := math.Erfc(t/math.Sqrt2) / 2 / (invSqrt2Pi * math.Exp(-t*t/2))
		k := 1 - t*m
		return [3]float64{m, k, m - t*k}
	}
	const top = 800
	r := 0.0 // Iₙ₊₁/Iₙ
	var ratio [2]float64
	for n := top; n > 0; n-- {
		r = float64(n) / (t + r) // Iₙ/Iₙ₋₁
		if n <= 2 {
			ratio[n-1] = r
		}
	}
	m := 1 / (t + ratio[0])
	return [3]float64{m, m * ratio[0], m * ratio[0] * ratio[1]}
}

// Mills64 is the Mills ratio at t ≥ 0 in float64, for fits.
func Mills64(t float64) float64 { return upper(t)[0] }
