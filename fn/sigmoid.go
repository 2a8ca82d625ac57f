package fn

import (
	"math"
	"utvi/internal/compute/kernel"
	"utvi/internal/special"
	"utvi/moment"
)

// Sigmoid returns f(x) = 1/(1+e⁻ˣ).
func Sigmoid() *moment.Func {
	return &moment.Func{
		Name: "sigmoid",
		F:    special.Sigmoid,
		DF:   sigmoidSlope,
		D2F:  func(x float64) float64 { return -sigmoidSlope(x) * math.Tanh(x/2) },
		Op:   kernel.OpSigmoid,
	}
}

// sigmoidSlope is p(1−p), with 1−p computed as sigmoid(−x).
func sigmoidSlope(x float64) float64 {
	return special.Sigmoid(x) * special.Sigmoid(-x)
}
