package product_test

import (
	"fmt"

	"utvi/internal/compute"
	"utvi/internal/compute/product"
)

func ExampleMul() {
	b := product.NewRight[float32](2, 3)
	b.Pack([]float32{
		1, 2, 3,
		4, 5, 6,
	}, 3, 1)
	a := []float32{
		1, 0,
		1, 10,
	}
	bias := []float32{100, 200, 300}
	dst := make([]float32, 2*3)
	product.Mul(product.To(dst, 3).From(bias, 0), product.Rows(a, 2), 2, b)
	fmt.Println(dst[:3])
	fmt.Println(dst[3:])
	// Output:
	// [101 202 303]
	// [141 252 363]
}

func ExamplePool() {
	p := compute.NewPool(2)
	defer p.Close()
	squares := make([]int, 5)
	p.Run(len(squares), func(worker, task int) { squares[task] = task * task })
	fmt.Println(squares)
	// Output: [0 1 4 9 16]
}
