package special

import (
	"fmt"
	"math"
	"testing"
)

func TestLogistic(t *testing.T) {
	for _, x := range []float64{-700, -40.1, -39.9, -17, -2, -0.3, 1e-9, 0.4, 3, 20, 36} {
		e := bigExp(number(x))
		s := zeroBig().Quo(e, zeroBig().Add(number(1), e))
		check(t, "Sigmoid", x, distance(Sigmoid(x), s), 5e-16)
		// eʸ = 1 + eˣ, to the relative accuracy of y.
		y := Softplus(x)
		r := zeroBig().Sub(bigExp(number(y)), number(1))
		r.Quo(r.Sub(r, e), zeroBig().Mul(number(y), zeroBig().Add(number(1), e)))
		f, _ := r.Float64()
		check(t, "Softplus", x, math.Abs(f), 5e-16)
		check(t, "LogSoftplus", x, math.Abs(LogSoftplus(x)-math.Log(y)), 1e-15*math.Max(1, math.Abs(x)))
		if back := SoftplusInverse(y); math.Abs(back-x) > 1e-15*math.Max(1, math.Abs(x)) {
			t.Errorf("SoftplusInverse(Softplus(%g)) = %g", x, back)
		}
		if x < 1 {
			if back := Logit(Sigmoid(x)); math.Abs(back-x) > 1e-15*math.Max(1, math.Abs(x)) {
				t.Errorf("Logit(Sigmoid(%g)) = %g", x, back)
			}
		}
		if got := LogSigmoid(x); got != -Softplus(-x) {
			t.Errorf("LogSigmoid(%g) = %g", x, got)
		}
	}
	inf := math.Inf(1)
	if Sigmoid(-inf) != 0 || Sigmoid(inf) != 1 || Softplus(-inf) != 0 || Softplus(inf) != inf ||
		Softplus(1e300) != 1e300 || Logit(0) != -inf || Logit(1) != inf || SoftplusInverse(0) != -inf {
		t.Error("a function is wrong at its ends")
	}
}

func ExampleSoftplus() {
	fmt.Printf("%.4f %.4g\n", Softplus(0), Softplus(-100))
	// Output: 0.6931 3.72e-44
}
