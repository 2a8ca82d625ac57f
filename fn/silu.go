package fn

import (
	"utvi/internal/compute/kernel"
	"utvi/internal/special"
	"utvi/moment"
)

// SiLU returns f(x) = x·sigmoid(x), also called swish.
func SiLU() *moment.Func {
	return &moment.Func{
		Name: "silu",
		F:    func(x float64) float64 { return mulTail(x, special.Sigmoid(x)) },
		DF: func(x float64) float64 {
			p, q := special.Sigmoid(x), special.Sigmoid(-x)
			return p * (1 + mulTail(x, q))
		},
		D2F: func(x float64) float64 {
			p, q := special.Sigmoid(x), special.Sigmoid(-x)
			return 2*p*q + mulTail(x, p*q*(q-p))
		},
		Op: kernel.OpSiLU,
	}
}
