package nn_test

import (
	"fmt"

	"utvi/fn"
	"utvi/nn"
)

// A gate: how much of each feature passes is learned, too.
func ExampleGraph() {
	sigmoid := nn.Apply{F: fn.Sigmoid()}
	gate := nn.Graph{Steps: []nn.Step{
		{Name: "features", Layer: nn.Dense{Out: 8}},
		{Name: "gate", Layer: nn.Chain{nn.Dense{Out: 8}, sigmoid}, From: []string{"in"}},
		{Name: "gated", Layer: nn.Product{}, From: []string{"features", "gate"}},
		{Name: "out", Layer: nn.Dense{Out: 2}},
	}}
	fmt.Println(outOf(nn.Correlate(nn.Chain{gate}), nn.Vec(5)))
	// Output: 2
}

// Two inputs, an image and three numbers, lie side by side in a row.
func ExampleGraph_inputs() {
	g := nn.Graph{
		Inputs: []nn.Input{{Name: "image", Shape: nn.Shape{H: 8, W: 8, C: 1}}, {Name: "numbers", Shape: nn.Vec(3)}},
		Steps: []nn.Step{
			{Name: "seen", Layer: nn.Chain{nn.Conv2D{Out: 4, Kernel: [2]int{3, 3}}, nn.Apply{F: fn.ReLU()}}, From: []string{"image"}},
			{Name: "out", Layer: nn.Dense{Out: 1}, From: []string{"seen", "numbers"}},
		},
	}
	fmt.Println(outOf(g, nn.Vec(8*8+3)))
	// Output: 1
}

func ExampleSum() {
	difference := two(nn.Sum{By: []float64{1, -1}}, nn.Vec(1), nn.Vec(1))
	out := pushRow(difference, []float64{5, 3}, []float64{0.5, 0.25})
	fmt.Println(out.Mean, out.Var)
	// Output: [2] [0.75]
}

func ExampleProduct() {
	out := pushRow(two(nn.Product{}, nn.Vec(1), nn.Vec(1)), []float64{2, 3}, []float64{0.5, 0.25})
	fmt.Println(out.Mean, out.Var) // 2²·0.25 + 3²·0.5 + 0.5·0.25
	// Output: [6] [5.625]
}

func ExampleConcat() {
	pixels := two(nn.Concat{}, nn.Shape{H: 1, W: 2, C: 1}, nn.Shape{H: 1, W: 2, C: 2})
	out := pushRow(pixels, []float64{1, 2, 10, 11, 20, 21}, make([]float64, 6))
	fmt.Println(outOf(pixels, nn.Vec(6)), out.Mean)
	// Output: 1×2×3 [1 10 11 2 20 21]
}

func ExampleSlice() {
	out := pushRow(nn.Slice{From: 1, To: 3}, []float64{1, 2, 3, 4}, []float64{0.1, 0.2, 0.3, 0.4})
	fmt.Println(out.Mean, out.Var)
	// Output: [2 3] [0.2 0.3]
}

func ExampleTranspose() {
	rows := nn.Chain{nn.Reshape{H: 1, W: 2, C: 3}, nn.Transpose{}}
	out := pushRow(rows, []float64{1, 2, 3, 4, 5, 6}, make([]float64, 6))
	fmt.Println(outOf(rows, nn.Vec(6)), out.Mean)
	// Output: 1×3×2 [1 4 2 5 3 6]
}

func ExampleReshape() {
	fmt.Println(outOf(nn.Reshape{H: 4, W: 0, C: 2}, nn.Vec(24)))
	// Output: 4×3×2
}
