package fn

import (
	"utvi/compute"
	"utvi/moment"
	"utvi/special"
)

// NormalCDF returns f(x) = Φ(x), the standard Normal distribution function.
func NormalCDF() *moment.Func {
	return &moment.Func{
		Name: "normal-cdf",
		F:    special.CDF,
		DF:   special.PDF,
		D2F:  func(x float64) float64 { return mulTail(-x, special.PDF(x)) },
		Op:   compute.OpNormalCDF,
	}
}
