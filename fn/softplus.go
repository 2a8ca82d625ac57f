package fn

import (
	"utvi/internal/compute/kernel"
	"utvi/internal/special"
	"utvi/moment"
)

// Softplus returns f(x) = ln(1+eˣ).
func Softplus() *moment.Func {
	return &moment.Func{
		Name: "softplus",
		F:    special.Softplus,
		DF:   special.Sigmoid,
		D2F:  sigmoidSlope,
		Op:   kernel.OpSoftplus,
	}
}
