package special

import "math"

// Digamma returns the slope of ln Γ at x > 0.
func Digamma(x float64) (sum float64) {
	for ; x < 10; x++ { // ψ(x) = ψ(x+1) − 1/x
		sum -= 1 / x
	}
	q := 1 / (x * x) // then ln x − 1/2x − Σ B₂ₖ/(2k·x²ᵏ)
	return sum + math.Log(x) - 0.5/x - q*(1.0/12-q*(1.0/120-q*(1.0/252-q*(1.0/240-q*(1.0/132-q*691.0/32760)))))
}
