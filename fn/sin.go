package fn

import (
	"math"

	"utvi/compute"
	"utvi/moment"
)

// Sin returns f(x) = sin x.
func Sin() *moment.Func {
	return &moment.Func{
		Name: "sin",
		F:    math.Sin,
		DF:   math.Cos,
		D2F:  func(x float64) float64 { return -math.Sin(x) },
		Op:   compute.OpSin,
	}
}

// Cos returns f(x) = cos x.
func Cos() *moment.Func {
	return &moment.Func{
		Name: "cos",
		F:    math.Cos,
		DF:   func(x float64) float64 { return -math.Sin(x) },
		D2F:  func(x float64) float64 { return -math.Cos(x) },
		Op:   compute.OpCos,
	}
}
