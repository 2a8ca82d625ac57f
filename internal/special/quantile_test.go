package special

import (
	"fmt"
	"math"
	"testing"
)

// offQuantile is the relative error of x as Φ⁻¹(p): the residual of Φ over its
// slope, in high precision.
func offQuantile(x, p float64) float64 {
	b := number(x)
	d := zeroBig().Sub(bigCDF(b), number(p))
	d.Quo(d, zeroBig().Mul(bigPDF(b), b))
	f, _ := d.Float64()
	return math.Abs(f)
}

func TestQuantile(t *testing.T) {
	for _, p := range []float64{1e-300, 1e-100, 3e-17, 1e-10, 1e-4, 0.02, 0.0749, 0.0751, 0.3, 0.49999, 0.5000001, 0.7, 0.9249, 0.9251, 0.999, 1 - 1e-12} {
		check(t, "Quantile", p, offQuantile(Quantile(p), p), 1e-15)
		// A logarithm knows p only to |ln p|·ε, or 1−p for p near 1.
		z := QuantileLog(math.Log(p))
		if p < 0.4 {
			check(t, "QuantileLog", p, offQuantile(z, p), 2e-15)
		}
	}
	if Quantile(0.5) != 0 || !math.IsInf(Quantile(0), -1) || !math.IsInf(Quantile(1), 1) {
		t.Error("Quantile at 0, ½ or 1")
	}
	if !math.IsNaN(Quantile(-0.1)) || !math.IsNaN(Quantile(1.1)) || !math.IsNaN(QuantileLog(0.1)) {
		t.Error("Quantile outside of the unit interval is not NaN")
	}
	if got := QuantileLog(-1e-20); math.Abs(got+Quantile(1e-20)) > 1e-14 {
		t.Errorf("QuantileLog(-1e-20) = %g", got)
	}
}

// offTail is the relative error of x as the solution of ln Φ(−x) = −L.
func offTail(x, L float64) float64 {
	r := zeroBig().Mul(number(x), number(x))
	r.Quo(r, number(2))
	r.Sub(r, number(L))
	f, _ := r.Float64()
	return math.Abs((f + lnSqrt2Pi - math.Log(Mills(x))) / x * Mills(x))
}

func TestQuantileFarTail(t *testing.T) {
	for _, L := range []float64{3, 24.9, 25.1, 675, 677, 700, 746, 1e4, 1e9, 1e15, 9e17, 2e18, 1e100, math.MaxFloat64} {
		check(t, "QuantileLog", -L, offTail(-QuantileLog(-L), L), 4e-16)
	}
}

// TestNormalInverse goes through every binary magnitude of float32 and float64.
func TestNormalInverse(t *testing.T) {
	for e := -1074; e <= 1023; e++ {
		for _, s := range []float64{1, 1.37, -1, -1.8} {
			x := math.Ldexp(s, e)
			g, d1, d2 := NormalInverseJet(x)
			if math.IsInf(g, 0) || math.IsNaN(g+d1+d2) || g*x < 0 || g == 0 && math.Abs(x) > 1e-307 || d1 <= 0 || d2*x > 0 {
				t.Fatalf("NormalInverse(%g) = %g, slope %g, curvature %g", x, g, d1, d2)
			}
			if back := NormalInverse(-x); back != -g {
				t.Fatalf("NormalInverse(%g) = %g is not odd", x, g)
			}
			// Against the definition: Φ(−|g|) = sigmoid(−|t|) in the tail, and
			// the limit of the slope √(π/8) at 0.
			if a := math.Abs(x); a > 1e-3 && a < 600 {
				want := bigExp(number(-a))
				want.Quo(want, zeroBig().Add(number(1), want))
				z := number(-math.Abs(g))
				d := zeroBig().Sub(bigCDF(z), want)
				d.Quo(d, zeroBig().Mul(bigPDF(z), z))
				f, _ := d.Float64()
				check(t, "NormalInverse", x, math.Abs(f), 1e-15)
				slope := zeroBig().Mul(want, zeroBig().Sub(number(1), want))
				check(t, "NormalInverse'", x, distance(d1, slope.Quo(slope, bigPDF(z))), 4e-15+4e-16*a) // φ of a rounded g
			} else if a <= 1e-9 && math.Abs(g/x/math.Sqrt(math.Pi/8)-1) > 1e-15 && a > 1e-300 {
				t.Errorf("NormalInverse(%g) = %g", x, g)
			} else if a >= 600 {
				check(t, "NormalInverse", x, offTail(math.Abs(g), a), 4e-16)
				// g → √(2t)(1 − ln(4πt)/4t): the textbook form of g″ is noise here.
				if want := -math.Pow(2*a, -1.5); a > 1e15 && a < 1e190 && math.Abs(d2*math.Copysign(1, x)/want-1) > 1e-13 {
					t.Errorf("NormalInverse''(%g) = %g, want %g", x, d2, want)
				}
			}
		}
	}
	if !math.IsInf(NormalInverse(math.Inf(1)), 1) || NormalInverse(0) != 0 {
		t.Error("NormalInverse at 0 or infinity")
	}
	if g := NormalInverse(math.MaxFloat32); math.IsInf(g, 0) || math.Abs(g/math.Sqrt(2*math.MaxFloat32)-1) > 1e-15 {
		t.Errorf("NormalInverse of the largest float32 is %g", g)
	}
}

func TestNormalInverseCurvature(t *testing.T) {
	for _, x := range []float64{-900, -40, -2.51, -2.49, -0.3, 1e-3, 0.7, 3, 15, 80, 1e5} {
		h := 1e-3 * math.Abs(x)
		at := func(k float64) float64 { _, d, _ := NormalInverseJet(x + k*h); return d }
		want := (8*(at(1)-at(-1)) - at(2) + at(-2)) / (12 * h)
		if _, _, got := NormalInverseJet(x); math.Abs(got-want) > 1e-8*math.Abs(want)+1e-15/h {
			t.Errorf("curvature at %g: %.12g, differences %.12g", x, got, want)
		}
	}
}

func ExampleQuantile() {
	fmt.Printf("%.6f %.6f\n", Quantile(0.975), QuantileLog(-1e6))
	// Output: 1.959964 -1414.207783
}

func ExampleNormalInverse() {
	fmt.Printf("%.4f %.4f %.4g\n", NormalInverse(1), NormalInverse(-40), NormalInverse(1e20))
	// Output: 0.6160 -8.5927 1.414e+10
}
