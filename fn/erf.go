package fn

import (
	"math"

	"utvi/compute"
	"utvi/moment"
	"utvi/special"
)

// Erf returns f(x) = erf x = 2Φ(√2·x) − 1.
func Erf() *moment.Func {
	return &moment.Func{
		Name: "erf",
		F:    math.Erf,
		DF:   erfSlope,
		D2F:  func(x float64) float64 { return mulTail(-2*x, erfSlope(x)) },
		Op:   compute.OpErf,
	}
}

// erfSlope is 2·exp(−x²)/√π.
func erfSlope(x float64) float64 {
	return 2 * math.Sqrt2 * special.PDF(math.Sqrt2*x)
}
