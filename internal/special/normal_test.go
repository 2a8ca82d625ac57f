package special

import (
	"fmt"
	"math"
	"testing"
)

// zs cover both tails, both sides of every branch, and nothing round.
var zs = []float64{-37.3, -31.7, -20.1, -12.3, -7.7, -3.1, -1.01, -0.99, -0.2, -1e-9, 0, 1e-7, 0.4, 0.999, 1.2, 1.49, 1.51, 2.2, 3.3, 5.9, 11.1, 19, 26.3, 35.3, 35.4, 37.1}

func check(t *testing.T, what string, x, err, bound float64) {
	t.Helper()
	if !(err <= bound) {
		t.Errorf("%s(%g): relative error %.2g, want at most %.2g", what, x, err, bound)
	}
}

func TestNormal(t *testing.T) {
	for _, z := range zs {
		b := number(z)
		check(t, "PDF", z, distance(PDF(z), bigPDF(b)), 5e-16)
		check(t, "CDF", z, distance(CDF(z), bigCDF(b)), 2e-15)
		mills := bigMills(b)
		check(t, "Mills", z, distance(Mills(z), mills), 2e-13) // below 0 it grows like exp(z²/2)
		if z < 0 {
			continue
		}
		check(t, "Mills", z, distance(Mills(z), mills), 2e-15)
		i1 := zeroBig().Sub(number(1), zeroBig().Mul(b, mills))
		i2 := zeroBig().Sub(mills, zeroBig().Mul(b, i1))
		i2.Quo(i2, number(2))
		tail := Tail(z)
		check(t, "I0", z, distance(tail.I0, mills), 2e-15)
		check(t, "I1", z, distance(tail.I1, i1), 4e-15)
		check(t, "I2", z, distance(tail.I2, i2), 1e-14)
		var series [5]float64
		TailSeries(z, series[:])
		i3 := zeroBig().Sub(i1, zeroBig().Mul(b, i2))
		i3.Quo(i3, number(3))
		check(t, "I3", z, distance(series[3], i3), 5e-14)
	}
}

// The backward recurrence starts far enough out, and at the right ratio: 44 terms,
// the most that ELU takes, against the first of 400.
func TestTailSeriesForgetsItsStart(t *testing.T) {
	var long [400]float64
	var short [44]float64
	for x := 1.0; x < 200; x *= 1.01 {
		TailSeries(x, long[:])
		TailSeries(x, short[:])
		for k, bound := range map[int]float64{0: 1e-15, 22: 3.5e-14, 33: 1e-12, 43: 9e-11} {
			if e := math.Abs(short[k]/long[k] - 1); !(e <= bound) {
				t.Fatalf("I%d(%g) of 44 is off by %g, more than %g", k, x, e, bound)
			}
		}
	}
}

// Far out, where the recurrence would start at its end, the integrals are powers.
func TestTailFarOut(t *testing.T) {
	for _, x := range []float64{0.9e8, 1.1e8, 1e30, 1e90} {
		var series [4]float64
		TailSeries(x, series[:])
		tail := Tail(x)
		for n, got := range [][2]float64{{tail.I0, series[0]}, {tail.I1, series[1]}, {tail.I2, series[2]}, {series[3], series[3]}} {
			want := math.Pow(x, -float64(n+1))
			for _, g := range got {
				if math.Abs(g-want) > 4e-15*want {
					t.Errorf("I%d(%g) = %g, want %g", n, x, g, want)
				}
			}
		}
	}
}

func TestEnds(t *testing.T) {
	inf := math.Inf(1)
	if g, d1, d2 := NormalInverseJet(inf); g != inf || d1 != 0 || d2 != 0 {
		t.Errorf("NormalInverseJet(∞) = %g, %g, %g", g, d1, d2)
	}
	if g, d1, d2 := NormalInverseJet(-inf); g != -inf || d1 != 0 || d2 != 0 {
		t.Errorf("NormalInverseJet(−∞) = %g, %g, %g", g, d1, d2)
	}
	for _, x := range [][2]float64{{math.NaN(), 1}, {1, math.NaN()}, {math.NaN(), 3}} {
		if got := OwenT(x[0], x[1]); !math.IsNaN(got) {
			t.Errorf("T(%g, %g) = %g", x[0], x[1], got)
		}
	}
}

func TestErfcx(t *testing.T) {
	for _, x := range []float64{-26, -3, -0.1, 0, 0.3, 1, 4.4, 17, 24.9, 25.1, 30} {
		z := zeroBig().Mul(number(x), zeroBig().Sqrt(number(2)))
		// erfcx(x) = 2Φ(−√2x)·exp(x²)
		want := bigCDF(zeroBig().Neg(z))
		want.Mul(want, number(2))
		want.Mul(want, bigExp(zeroBig().Mul(number(x), number(x))))
		check(t, "Erfcx", x, distance(Erfcx(x), want), 2e-15)
	}
	if got := Erfcx(1e200) * 1e200 * math.Sqrt(math.Pi); math.Abs(got-1) > 1e-15 {
		t.Errorf("Erfcx(1e200) is off by a factor of %g", got)
	}
	if !math.IsInf(Erfcx(-30), 1) || !math.IsInf(Erfcx(math.Inf(-1)), 1) || Erfcx(math.Inf(1)) != 0 {
		t.Error("Erfcx at its ends")
	}
}

func TestLogCDF(t *testing.T) {
	for _, z := range zs {
		// d ln Φ = dΦ/Φ: compare through the exponential of the rest.
		l := LogCDF(z)
		want := bigCDF(number(z))
		got := bigExp(number(l))
		rel := zeroBig().Quo(zeroBig().Sub(got, want), want)
		f, _ := rel.Float64()
		check(t, "LogCDF", z, math.Abs(f)/math.Max(math.Abs(l), 1e-300), 1e-15)
	}
	if got := LogCDF(-1e10); math.Abs(got/-5e19-1) > 1e-15 {
		t.Errorf("LogCDF(-1e10) = %g", got)
	}
}

func TestNormalEnds(t *testing.T) {
	inf := math.Inf(1)
	if CDF(-inf) != 0 || CDF(inf) != 1 || PDF(inf) != 0 || PDF(-inf) != 0 || Mills(inf) != 0 || LogCDF(inf) != 0 {
		t.Error("a function is wrong at infinity")
	}
	for _, f := range []func(float64) float64{CDF, PDF, Mills, LogCDF, Quantile, QuantileLog, NormalInverse, Sigmoid, Softplus, Logit} {
		if !math.IsNaN(f(math.NaN())) {
			t.Error("a function swallows NaN")
		}
	}
	// The smallest tail that is not zero.
	if p := CDF(-38); !(p > 2.8e-316 && p < 2.9e-316) {
		t.Errorf("CDF(-38) = %g", p)
	}
}

func ExampleCDF() {
	fmt.Printf("%.6g %.6g\n", CDF(-10), CDF(1))
	// Output: 7.61985e-24 0.841345
}

func ExampleMills() {
	fmt.Printf("%.6f\n", Mills(30))
	// Output: 0.033296
}
