package nn_test

import (
	"fmt"

	"utvi/fn"
	"utvi/moment"
	"utvi/nn"
	"utvi/vi"
)

func ExampleDense() {
	p := &vi.Params[float32]{}
	u, err := nn.Bind(nn.Dense{Out: 3}, &nn.Binder[float32]{Params: p, In: nn.Vec(2), Name: "first"})
	if err != nil {
		panic(err)
	}
	fmt.Println(u.Out())
	for _, t := range p.Tensors {
		fmt.Println(t.Name, t.Shape, t.Random)
	}
	// Output:
	// 3
	// first.weight [2 3] true
	// first.bias [3] true
}

func ExampleApply() {
	tanh := nn.Apply{F: fn.Tanh()} // by five points
	out := pushRow(tanh, []float64{0.3, 1}, []float64{0.5, 0})
	fmt.Printf("%.4f %.4f\n", out.Mean, out.Var)

	sensor := nn.Apply{F: &moment.Func{Name: "sensor", F: func(x float64) float64 { return x / (1 + x*x) }}, Rule: moment.GaussHermite(9)}
	out = pushRow(sensor, []float64{0.3, 1}, []float64{0.5, 0})
	fmt.Printf("%.4f %.4f\n", out.Mean, out.Var)
	// Output:
	// [0.2151 0.7616] [0.2561 0.0000]
	// [0.1427 0.5000] [0.1250 0.0000]
}

func ExampleChain() {
	act := nn.Apply{F: fn.LeakyReLU(0.01)}
	fmt.Println(outOf(nn.Chain{nn.Conv2D{Out: 8, Kernel: [2]int{3, 3}}, act, nn.Flatten{}, nn.Dense{Out: 128}, act, nn.Dense{Out: 3}}, nn.Shape{H: 8, W: 8, C: 1}))
	// Output: 3
}

func ExampleScale() {
	out := pushRow(nn.Scale{Start: 2}, []float64{6}, []float64{8})
	fmt.Printf("%.0f %.0f\n", out.Mean, out.Var)
	// Output: [3] [2]
}

func ExampleMultiply() {
	out := pushRow(nn.Multiply{By: []float64{2, 1}}, []float64{3, 3}, []float64{0.5, 0.5})
	fmt.Printf("%.0f %.1f\n", out.Mean, out.Var)
	// Output: [6 3] [2.0 0.5]
}

// A count that grows with the unit before it: mean 10·x, scale 2.
func ExampleConditional() {
	count := &moment.Map{Name: "count", In: 1, Out: 2, F: func(x, y []float64) { y[0], y[1] = 10*x[0], 2 }}
	out := pushRow(nn.Conditional{Target: 1, Given: []int{0}, Location: count}, []float64{3, 0.5}, []float64{0.1, 1})
	fmt.Printf("%.0f %.1f\n", out.Mean, out.Var)
	// Output: [3 31] [0.1 4.0]
}

func ExampleVec() {
	fmt.Println(nn.Vec(5), nn.Vec(5).Size(), nn.Shape{H: 28, W: 28, C: 1}.Size())
	// Output: 5 5 784
}
