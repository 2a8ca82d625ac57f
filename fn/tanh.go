package fn

import (
	"math"
	"utvi/internal/compute/kernel"
	"utvi/moment"
)

// Tanh returns f(x) = tanh x.
func Tanh() *moment.Func {
	return &moment.Func{
		Name: "tanh",
		F:    math.Tanh,
		DF:   tanhSlope,
		D2F:  func(x float64) float64 { return -2 * math.Tanh(x) * tanhSlope(x) },
		Op:   kernel.OpTanh,
	}
}

// tanhSlope is 1/cosh², which unlike 1−tanh² keeps its digits in the tails.
func tanhSlope(x float64) float64 { return 4 * sigmoidSlope(2*x) }
