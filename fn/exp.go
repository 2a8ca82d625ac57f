package fn

import (
	"math"

	"utvi/compute"
	"utvi/moment"
)

// Exp returns f(x) = eˣ.
func Exp() *moment.Func {
	return &moment.Func{
		Name: "exp",
		F:    math.Exp,
		DF:   math.Exp,
		D2F:  math.Exp,
		Op:   compute.OpExp,
	}
}
