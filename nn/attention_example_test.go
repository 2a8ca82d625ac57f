package nn_test

import (
	"fmt"

	"utvi/fn"
	"utvi/nn"
)

// A Transformer encoder: positions, then blocks of attention and a dense network for each token.
func ExampleMultiHeadAttention() {
	norm, gelu := nn.PerPlace{Layer: nn.LayerNorm{}}, nn.Apply{F: fn.GELU()}
	block := nn.Chain{
		nn.Residual{Branch: nn.Chain{norm, nn.MultiHeadAttention{Heads: 4}}},
		nn.Residual{Branch: nn.Chain{norm, nn.PerPlace{Layer: nn.Chain{nn.Dense{Out: 64}, gelu, nn.Dense{Out: 32}}}}},
	}
	net := nn.Chain{nn.PerPlace{Layer: nn.Dense{Out: 32}}, nn.Positions{}, block, block, nn.Dense{Out: 3}}
	fmt.Println(outOf(nn.Correlate(net), nn.Shape{H: 1, W: 10, C: 4})) // 10 tokens of 4 numbers
	// Output: 3
}

// The tokens of one signal look at those of another one.
func ExampleMultiHeadAttention_cross() {
	g := nn.Graph{
		Inputs: []nn.Input{{Name: "query", Shape: nn.Shape{H: 1, W: 2, C: 8}}, {Name: "memory", Shape: nn.Shape{H: 1, W: 5, C: 6}}},
		Steps:  []nn.Step{{Name: "out", Layer: nn.MultiHeadAttention{Heads: 2}, From: []string{"query", "memory"}}},
	}
	fmt.Println(outOf(g, nn.Vec(2*8+5*6)))
	// Output: 1×2×8
}

func ExampleMultiHeadAttention_Expand() {
	g, err := nn.MultiHeadAttention{Heads: 2}.Expand(nn.Shape{H: 1, W: 3, C: 4})
	if err != nil {
		panic(err)
	}
	for _, s := range g.Steps {
		fmt.Println(s.Name, s.From)
	}
	// Output:
	// query [tokens]
	// key [tokens]
	// value [tokens]
	// scores [query key]
	// weights [scores]
	// mixed [weights value]
	// out []
}

func ExampleMatMul() {
	out := pushRow(two(nn.MatMul{}, nn.Shape{H: 1, W: 1, C: 2}, nn.Shape{H: 1, W: 2, C: 1}), []float64{1, 2, 3, 4}, []float64{0, 0, 0.5, 0.25})
	fmt.Println(out.Mean, out.Var) // 1·3 + 2·4, 1²·0.5 + 2²·0.25
	// Output: [11] [1.5]
}

func ExampleSoftmax() {
	pixels := nn.Shape{H: 1, W: 2, C: 2} // two classes for each of two pixels
	out := pushShape(nn.Softmax{}, pixels, []float64{0, 0, 3, 0}, []float64{1, 1, 1, 1})
	fmt.Printf("%.3f %.3f\n", out.Mean, out.Var)
	// Output: [0.500 0.500 0.909 0.091] [0.068 0.068 0.014 0.014]
}

func ExamplePerPlace() {
	fmt.Println(outOf(nn.PerPlace{Layer: nn.Dense{Out: 16}}, nn.Shape{H: 1, W: 10, C: 4}))
	// Output: 1×10×16
}

func ExamplePositions() {
	out := pushShape(nn.Positions{Sinusoidal: true}, nn.Shape{H: 1, W: 2, C: 2}, make([]float64, 4), nil)
	fmt.Printf("%.3f\n", out.Mean)
	// Output: [0.000 1.000 0.841 0.540]
}
