package fn

import (
	"utvi/compute"
	"utvi/moment"
)

// ReLU returns f(x) = max(x, 0), the leaky ReLU of slope 0.
func ReLU() *moment.Func {
	f := LeakyReLU(0)
	f.Name = "relu"
	return f
}

// LeakyReLU returns f(x) = x for x > 0 and slope·x elsewhere; the slope at 0 is
// that of the negative side.
func LeakyReLU(slope float64) *moment.Func {
	return &moment.Func{
		Name:  withParameter("leaky-relu", slope),
		F:     func(x float64) float64 { return x * leakySlope(x, slope) },
		DF:    func(x float64) float64 { return leakySlope(x, slope) },
		D2F:   zero,
		Kinks: []float64{0},
		Op:    compute.OpLeakyReLU,
		A:     slope,
	}
}

func leakySlope(x, slope float64) float64 {
	if x > 0 {
		return 1
	}
	return slope
}
