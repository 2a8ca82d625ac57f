package special

import (
	"math"
	"testing"
)

func TestDigamma(t *testing.T) {
	const euler = 0.57721566490153286060651209
	for x, want := range map[float64]float64{
		1: -euler, 0.5: -euler - 2*math.Ln2, 2: 1 - euler, 0.25: -euler - math.Pi/2 - 3*math.Ln2,
		1e-6: -1e6 - euler + math.Pi*math.Pi/6*1e-6, 1e9: math.Log(1e9) - 0.5e-9,
	} {
		if got := Digamma(x); math.Abs(got-want) > 1e-14*(1+math.Abs(want)) {
			t.Errorf("ψ(%v) is %v, want %v", x, got, want)
		}
	}
	for _, x := range []float64{0.3, 3.7, 9.99, 10, 42} { // the sum of 1/(x+k)
		want := Digamma(x) + 1/x + 1/(x+1) + 1/(x+2)
		if got := Digamma(x + 3); math.Abs(got-want) > 1e-13 {
			t.Errorf("ψ(%v) is %v, want %v", x+3, got, want)
		}
	}
}
