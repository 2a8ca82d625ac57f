package dist_test

import (
	"fmt"

	"utvi/dist"
	"utvi/gauss"
)

func ExampleFromBatch() {
	b := gauss.FromStd(2, []float32{1, 2, 3, 4}, []float32{0.5, 1, 2, 0})
	all := dist.FromBatch(b)
	fmt.Println(all[2], all[3].SD() > 0)
	lo, hi := dist.Interval(all[0], 0.9)
	fmt.Printf("%.3f to %.3f\n", lo, hi)
	// Output:
	// {3 2} true
	// 0.178 to 1.822
}
