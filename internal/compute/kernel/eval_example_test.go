package kernel_test

import (
	"fmt"

	"utvi/internal/compute/kernel"
)

func ExampleEval() {
	x := []float32{-2, 0.5}
	f, df := make([]float32, 2), make([]float32, 2)
	kernel.Eval(kernel.OpLeakyReLU, 0.25, x, f, df)
	fmt.Println(f, df)
	// Output: [-0.5 0.5] [0.25 1]
}

func ExampleLeakyMoments() {
	mean, variance := make([]float32, 1), make([]float32, 1)
	kernel.LeakyMoments(kernel.Moments[float32]{Mean: mean, Var: variance}, -1, []float32{0}, []float32{1}) // |x|
	fmt.Printf("%.5f %.5f\n", mean[0], variance[0])                                                         // √(2/π), 1 − 2/π
	// Output: 0.79788 0.36338
}
