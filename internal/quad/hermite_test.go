package quad_test

import (
	"math"
	"testing"

	"utvi/internal/quad"
)

// The coefficients of exp over N(m, v) are e^{m+v/2}·σᵏ/√k!, and their squares sum up
// to the variance. Those of a ReLU
// about 0 are known, too.
func TestHermite(t *testing.T) {
	c := make([]float64, 12)
	quad.Hermite(exp, -1, 0.49, c)
	want := math.Exp(-1 + 0.245)
	for k := range c {
		want *= 0.7 / math.Sqrt(float64(k+1))
		if math.Abs(c[k]-want) > 1e-12 {
			t.Errorf("c_%d of exp is %v, want %v", k+1, c[k], want)
		}
	}
	c = make([]float64, 4)
	quad.Hermite(relu, 0, 4, c) // He₁ … He₄: ½, φ(0), 0, −φ(0), times σ and over √k!
	phi := 1 / math.Sqrt(2*math.Pi)
	for k, want := range []float64{1, 2 * phi / math.Sqrt2, 0, -2 * phi / math.Sqrt(24)} {
		if math.Abs(c[k]-want) > 1e-13 {
			t.Errorf("c_%d of a ReLU is %v, want %v", k+1, c[k], want)
		}
	}
	c[0] = 7
	if quad.Hermite(relu, 3, 0, c); c[0] != 7 {
		t.Error("a number has coefficients")
	}
}
