package fn

import (
	"utvi/compute"
	"utvi/moment"
)

// Identity returns f(x) = x.
func Identity() *moment.Func {
	return &moment.Func{
		Name: "identity",
		F:    func(x float64) float64 { return x },
		DF:   func(float64) float64 { return 1 },
		D2F:  zero,
		Op:   compute.OpIdentity,
	}
}

func zero(float64) float64 { return 0 }
