package special

import "math"

// Sigmoid returns 1/(1+e⁻ˣ), with relative accuracy in the lower tail.
func Sigmoid(x float64) float64 {
	if x < 0 {
		e := math.Exp(x)
		return e / (1 + e)
	}
	return 1 / (1 + math.Exp(-x))
}

// LogSigmoid returns ln(1/(1+e⁻ˣ)) = −softplus(−x).
func LogSigmoid(x float64) float64 { return -Softplus(-x) }

// Logit returns ln(p/(1−p)), the inverse of Sigmoid: ∓Inf at 0 and 1, NaN
// outside [0, 1].
func Logit(p float64) float64 {
	if p > 0.25 && p < 0.75 { // near ½ the logarithm's argument is near 1
		return 2 * math.Atanh(2*p-1)
	}
	return math.Log(p) - math.Log1p(-p)
}

// Softplus returns ln(1+eˣ), with relative accuracy in the lower tail.
func Softplus(x float64) float64 {
	return math.Max(x, 0) + math.Log1p(math.Exp(-math.Abs(x)))
}

// LogSoftplus returns ln(ln(1+eˣ)); it tends to x as x falls.
func LogSoftplus(x float64) float64 {
	if x < -40 {
		return x
	}
	return math.Log(Softplus(x))
}

// SoftplusInverse returns ln(eʸ−1), the x with Softplus(x) = y: −Inf at 0, NaN
// below.
func SoftplusInverse(y float64) float64 {
	if y > 1 {
		return y + math.Log(-math.Expm1(-y))
	}
	return math.Log(math.Expm1(y))
}
