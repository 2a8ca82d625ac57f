package special_test

import (
	"fmt"
	"math"

	"utvi/internal/special"
)

// Φ(−40) is no float64, its logarithm is.
func ExampleLogCDF() {
	fmt.Printf("%v %.4f\n", special.CDF(-40), special.LogCDF(-40))
	// Output: 0 -804.6084
}

// A narrow slice of the tail, where the difference of two Φ would be 0.
func ExampleCDFSlice() {
	fmt.Printf("%.4e, not %v\n", special.CDFSlice(9, 0.1), special.CDF(9.1)-special.CDF(9))
	// Output: 6.7693e-20, not 0
}

func ExampleErfcx() {
	fmt.Printf("%.6f\n", special.Erfcx(100)*100*math.Sqrt(math.Pi))
	// Output: 0.999950
}

func ExampleQuantileLog() {
	fmt.Printf("%.4f\n", special.QuantileLog(-1e6)) // of a probability of e^−1000000
	// Output: -1414.2078
}

func ExampleSigmoid() {
	fmt.Printf("%.3g %.3g\n", special.Sigmoid(-50), special.LogSigmoid(-1000))
	// Output: 1.93e-22 -1e+03
}

func ExampleLogit() {
	fmt.Printf("%.4f\n", special.Logit(special.Sigmoid(-50)))
	// Output: -50.0000
}

func ExampleSoftplusInverse() {
	fmt.Printf("%.4f\n", special.Softplus(special.SoftplusInverse(0.05)))
	// Output: 0.0500
}

// I₁ at 1e6, where 1 − x·M has no digit left.
func ExampleTail() {
	fmt.Printf("%.6e\n", special.Tail(1e6).I1)
	// Output: 1.000000e-12
}

func ExampleNormalInverseJet() {
	g, d1, d2 := special.NormalInverseJet(0)
	fmt.Printf("%.4f %.4f %.4f\n", g, d1, d2)
	// Output: 0.0000 0.6267 0.0000
}
