package fn

import (
	"utvi/compute"
	"utvi/moment"
)

// Square returns f(x) = x².
func Square() *moment.Func {
	return &moment.Func{
		Name: "square",
		F:    func(x float64) float64 { return x * x },
		DF:   func(x float64) float64 { return 2 * x },
		D2F:  func(float64) float64 { return 2 },
		Op:   compute.OpSquare,
	}
}
