package rng_test

import (
	"fmt"

	"utvi/rng"
)

// A number is a function of key and counter: nothing is advanced.
func ExampleNew() {
	k := rng.New(1)
	fmt.Println(rng.Uniform(k, 7) == rng.Uniform(k, 7), k == rng.New(2))
	// Output: true false
}

// Every purpose takes a stream of its own.
func ExampleKey_Sub() {
	k := rng.New(1)
	noise, order := k.Sub(0, 1), k.Sub(0, 2)
	fmt.Println(rng.Uniform(noise, 0) == rng.Uniform(order, 0))
	// Output: false
}

func ExampleUniform() {
	k := rng.New(1)
	fmt.Printf("%.3f %.3f\n", rng.Uniform(k, 0), rng.Uniform(k, 1))
	// Output: 0.352 0.841
}

func ExampleNormal() {
	k := rng.New(1)
	var sum, squares float64
	for i := range uint64(10000) {
		x := rng.Normal(k, i)
		sum, squares = sum+x, squares+x*x
	}
	fmt.Printf("mean %.2f, variance %.2f\n", sum/10000, squares/10000)
	// Output: mean 0.01, variance 1.00
}

func ExampleNormals() {
	fmt.Printf("%.3f\n", rng.Normals(rng.New(1), 0, 0, 0))
	// Output: [-0.296 -0.380 -1.004 -0.249]
}

func ExamplePoisson() {
	k := rng.New(1)
	fmt.Println(rng.Poisson(k, 0, 100), rng.Poisson(k, 1, 100), rng.Poisson(k, 2, 0.1))
	// Output: 96 111 0
}

func ExamplePerm() {
	p := make([]int, 6)
	rng.Perm(rng.New(1), p)
	fmt.Println(p)
	// Output: [4 5 2 0 1 3]
}
