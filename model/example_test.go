package model_test

import (
	"fmt"
	"log"
	"math"

	"utvi/fn"
	"utvi/gauss"
	"utvi/model"
	"utvi/nn"
	"utvi/rng"
	"utvi/vi"
)

// mustBuild returns a small network with 2 inputs and 1 output.
func mustBuild() *model.Model {
	m, err := model.New(model.Config{
		Input:  nn.Vec(2),
		Layers: nn.Chain{nn.Dense{Out: 16}, nn.Apply{F: fn.Tanh()}, nn.Dense{Out: 1}},
		Seed:   1,
		Init:   vi.Std(0.05),
		Prior:  vi.Prior{Std: 0.5},
	})
	if err != nil {
		log.Fatal(err)
	}
	return m
}

func ExampleNew() {
	m := mustBuild()
	fmt.Println(m.Inputs(), m.Outputs(), len(m.Params.Tensors))

	_, err := model.New(model.Config{Input: nn.Vec(2), Layers: nn.Chain{nn.Dense{Out: 16}, nn.Apply{}}})
	fmt.Println(err)
	// Output:
	// 2 1 4
	// network: layer 1.apply (input 16): no function F; set nn.Apply.F
}

// The same network in float64, to check it against.
func ExampleBuild() {
	m := mustBuild()
	n, err := model.Build[float64](m.Config)
	if err != nil {
		log.Fatal(err)
	}
	a := m.NewPredictor(1).Predict(gauss.Fixed(2, []float32{1, -1})).Mean[0]
	b := n.NewPredictor(1).Predict(gauss.Fixed(2, []float64{1, -1})).Mean[0]
	fmt.Println(math.Abs(float64(a)-b) < 1e-6)
	// Output: true
}

// Inputs may carry error bars of their own.
func ExamplePredictor_Predict() {
	p := mustBuild().NewPredictor(2)
	sharp := p.Predict(gauss.Fixed(2, []float32{1, -1})).Var[0]
	x := gauss.New[float32](1, 2)
	copy(x.Mean, []float32{1, -1})
	copy(x.Var, []float32{0.5, 0.5})
	blurred := p.Predict(x).Var[0]
	fmt.Println(sharp > 0, blurred > sharp)
	// Output: true true
}

// Fixed networks drawn from the posterior are what moments are propagated for.
func ExampleNet_Draw() {
	m := mustBuild()
	x := gauss.Fixed(2, []float32{1, -1})
	want := m.NewPredictor(1).Predict(x)
	drawn := m.Draw(rng.New(1))
	p := drawn.NewPredictor(1)
	var sum, squares float64
	const networks = 2000
	for i := range uint64(networks) {
		drawn.Redraw(m, rng.New(i))
		y := float64(p.Predict(x).Mean[0])
		sum, squares = sum+y, squares+y*y
	}
	mean := sum / networks
	sd := math.Sqrt(squares/networks - mean*mean)
	fmt.Println(math.Abs(mean-float64(want.Mean[0])) < sd/10, math.Abs(sd/math.Sqrt(float64(want.Var[0]))-1) < 0.1)
	// Output: true true
}

func ExampleNet_Inspect() {
	s := mustBuild().Inspect()
	for _, l := range s.Layers {
		fmt.Println(l.Name, l.Options, "→", l.Out)
	}
	fmt.Println(s.Weights, "weights")
	// Output:
	// 0.dense out=16 → 16
	// 1.apply f=tanh rule=gh(9) → 16
	// 2.dense out=1 → 1
	// 65 weights
}
