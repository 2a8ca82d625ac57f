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
func ExampleNew() {
	b := gauss.New[float32](2, 1)
	b.Mean[0], b.Var[0] = 1.5, 0.1*0.1
	b.Mean[1], b.Var[1] = 2.5, 0.3*0.3
	fmt.Println(b.Mean, b.Var)
	// Output: [1.5 2.5] [0.01 0.09]
}
