package likelihood_test

import (
	"fmt"

	"utvi/likelihood"
)

// Half a standard deviation off, and what would make it better: the mean should
// rise, the variance fall.
func ExampleNormal() {
	dmean, dvar := make([]float64, 1), make([]float64, 1)
	nll, _ := likelihood.Normal{}.Row([]float64{1}, []float64{0}, []float64{4}, dmean, dvar)
	fmt.Printf("%.4f nats, gradients %.3f and %.3f\n", nll, dmean[0], dvar[0])
	// Output: 1.7371 nats, gradients -0.250 and 0.094
}
