package vi_test

import (
	"fmt"

	"utvi/rng"
	"utvi/vi"
)

// Every weight starts with σ = 0.05.
func ExampleStd() {
	p := &vi.Params[float64]{}
	w := p.Random("weight", 10, 10, 2)
	p.Alloc()
	p.Start(rng.New(1), vi.Std(0.05))
	fmt.Printf("%d weights, all ρ %.4f, KL %.2f\n", w.Len(), w.Rho[7], w.KL())
	// Output: 20 weights, all ρ -2.9706, KL 50.23
}

// Tensors are declared, given memory, and started.
func ExampleParams() {
	p := &vi.Params[float32]{Prior: vi.Prior{Std: 0.5}}
	p.Random("weight", 3, 3, 4)
	p.Point("scale", 1, func(int) float64 { return 1 }, 4)
	p.Alloc()
	p.Start(rng.New(1), vi.Init{})
	for _, t := range p.Tensors {
		fmt.Println(t.Name, t.Shape, t.Random, t.Prior)
	}
	fmt.Println(len(p.Theta), "numbers")
	// Output:
	// weight [3 4] true {0 0.5}
	// scale [4] false {0 0}
	// 28 numbers
}
