package gauss_test

import (
	"fmt"

	"utvi/gauss"
)

func ExampleFixed() {
	b := gauss.Fixed(2, []float32{1, 2, 3, 4, 5, 6})
	fmt.Println(b.Rows, b.Slice(1, 2).Mean, b.Var == nil)
	// Output: 3 [3 4] true
}

// Measurements with error bars of their own.
func ExampleFromStd() {
	b := gauss.FromStd(1, []float32{1.5, 2.5}, []float32{0.1, 0.3})
	fmt.Printf("%.2f\n", b.Var)
	// Output: [0.01 0.09]
}
