package special

import (
	"fmt"
	"math"
	"testing"
)

// slowT is Owen's T in its angular form (1/2π)∫₀^atan(a) exp(−h²/(2cos²θ)) dθ, on
// Gauss panels far finer than needed.
func slowT(h, a float64) float64 {
	const panels = 200
	top := math.Atan(a)
	sum := 0.0
	for i := range panels {
		sum += legendre(float64(i)*top/panels, top/panels, func(x float64) float64 {
			c := math.Cos(x)
			return math.Exp(-h * h / (2 * c * c))
		})
	}
	return sum / (2 * math.Pi)
}

func TestOwenT(t *testing.T) {
	for _, h := range []float64{0, 1e-4, 0.3, 1, 2.7, 6, 11, 25, 36} {
		for _, a := range []float64{1e-8, 0.01, 0.2, 0.7, 1, 1.01, 2.5, 20} {
			got, want := OwenT(h, a), slowT(h, a)
			bound := 2e-14 + 4e-16*h*h // the rounding of h²
			if math.Abs(got-want) > bound*want {
				t.Errorf("T(%g, %g) = %.17g, want %.17g (%.1e)", h, a, got, want, math.Abs(got/want-1))
			}
			if OwenT(-h, a) != got || OwenT(h, -a) != -got {
				t.Errorf("T(%g, %g): wrong symmetry", h, a)
			}
		}
		check(t, "T(h, 1) of h", h, math.Abs(OwenT(h, 1)/(CDF(h)*CDF(-h)/2)-1), 1e-14)
		check(t, "T(h, ∞) of h", h, math.Abs(OwenT(h, math.Inf(1))/(CDF(-h)/2)-1), 1e-14)
	}
	if got := OwenT(0, 3); math.Abs(got-math.Atan(3)/(2*math.Pi)) > 1e-16 {
		t.Errorf("T(0, 3) = %g", got)
	}
}

func TestCDFSlice(t *testing.T) {
	for _, c := range [][2]float64{{-30, 1e-3}, {-30, 0.6}, {-8, 20}, {-1, 1e-12}, {0.3, 0.2}, {5, 0.49}, {9, 0.51}} {
		z, w := number(c[0]), number(c[1])
		want := zeroBig().Sub(bigCDF(zeroBig().Add(z, w)), bigCDF(z))
		check(t, "CDFSlice", c[0], distance(CDFSlice(c[0], c[1]), want), 1e-13)
	}
}

func ExampleOwenT() {
	fmt.Printf("%.12f\n", OwenT(0.5, 2))
	// Output: 0.141580603654
}
