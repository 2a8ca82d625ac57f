package optim_test

import (
	"fmt"

	"utvi/optim"
)

// Other settings are the paper's with some changed.
func ExamplePaper() {
	a := optim.Paper()
	a.Rate = optim.WarmUp(100, optim.Cosine(3e-3, 5000))
	a.Clip = 100
	fmt.Println(a.Check(), a.Beta1, a.Beta2, a.Decay, a.DecayOn)
	// Output: <nil> 0.9 0.999 0.01 all
}

func ExampleConstant() {
	rate := optim.Constant(1e-3)
	fmt.Println(rate(1), rate(9999))
	// Output: 0.001 0.001
}

func ExampleCosine() {
	rate := optim.Cosine(1, 1000)
	fmt.Printf("%.3f %.3f %.3f\n", rate(1), rate(501), rate(1001))
	// Output: 1.000 0.500 0.000
}

func ExampleWarmUp() {
	rate := optim.WarmUp(10, optim.Constant(1))
	fmt.Println(rate(1), rate(5), rate(20))
	// Output: 0.1 0.5 1
}

// A schedule is a plain function; so is one of your own.
func ExampleSchedule() {
	var halving optim.Schedule = func(step int) float64 { return 1e-2 / float64(uint(1)<<(step/1000)) }
	fmt.Println(halving(1), halving(1000), halving(2000))
	// Output: 0.01 0.005 0.0025
}

func ExampleFullKL() {
	fmt.Println(optim.FullKL()(1, 1))
	// Output: 1
}

func ExampleWarmUpKL() {
	w := optim.WarmUpKL(100)
	fmt.Println(w(1, 25), w(1, 100), w(2, 500))
	// Output: 0.25 1 1
}

func ExamplePaperKL() {
	w := optim.PaperKL(100)
	fmt.Println(w(1, 1), w(2, 81), w(3, 161))
	// Output: 0.5 0.25 0.125
}
