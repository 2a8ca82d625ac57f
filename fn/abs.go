package fn

import (
	"math"

	"utvi/moment"
)

// Abs returns f(x) = |x|, the leaky ReLU of slope −1.
func Abs() *moment.Func {
	f := LeakyReLU(-1)
	f.Name = "abs"
	f.F = math.Abs
	return f
}
