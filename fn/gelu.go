package fn

import (
	"utvi/internal/compute/kernel"
	"utvi/internal/special"
	"utvi/moment"
)

// GELU returns f(x) = x·Φ(x) in its exact form (Hendrycks and Gimpel 2016).
func GELU() *moment.Func {
	return withExact(&moment.Func{
		Name: "gelu",
		F:    func(x float64) float64 { return mulTail(x, special.CDF(x)) },
		DF:   geluSlope,
		D2F:  func(x float64) float64 { return special.PDF(x) * (2 - min(x*x, 1e9)) },
		Op:   kernel.OpGELU,
	}, geluMoments)
}

// geluSlope is Φ(x) + x·φ(x).
func geluSlope(x float64) float64 {
	return special.CDF(x) + mulTail(x, special.PDF(x))
}

// mulTail is x·p for a tail probability p that vanishes faster than x grows.
func mulTail(x, p float64) float64 {
	if p == 0 {
		return 0
	}
	return x * p
}
