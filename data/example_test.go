package data_test

import (
	"fmt"
	"math"

	"utvi/data"
	"utvi/gauss"
	"utvi/rng"
)

// Three rows of two inputs and one target.
func ExampleNewTable() {
	t, err := data.NewTable(gauss.Fixed(2, []float32{1, 2, 3, 4, 5, 6}), 1, []float32{10, 20, 30})
	fmt.Println(t.Rows(), t.Inputs(), t.Targets(), t.Uncertain(), err)

	_, err = data.NewTable(gauss.Fixed(1, []float32{1, float32(math.NaN())}), 1, []float32{1, 2})
	fmt.Println(err)
	// Output:
	// 3 2 1 false <nil>
	// table: input 0 of row 1 is NaN; it must be finite
}

// Endless noisy measurements of a sine; each row is a function of its key and
// number alone.
func ExampleGenerator() {
	g := &data.Generator{N: 10_000, In: 1, Out: 1, Generate: func(key rng.Key, row uint64, x, y []float32) {
		u := 2*rng.Uniform(key, 2*row) - 1
		x[0] = float32(u)
		y[0] = float32(math.Sin(3*u) + 0.1*rng.Normal(key, 2*row+1))
	}}
	x, y := gauss.New[float32](2, 1), make([]float32, 2)
	g.Begin(rng.New(1), 1, 2)
	g.Fill(0, 2, x, y)
	fmt.Printf("%.3f → %.3f\n", x.Mean, y)
	// Output: [-0.296 0.484] → [-0.776 1.007]
}
