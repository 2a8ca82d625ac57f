package moment_test

import (
	"fmt"
	"log"
	"math"

	"utvi/fn"
	"utvi/moment"
	"utvi/rng"
)

// show prints the moments of f(x), x ~ N(0.3, 0.5), by a rule.
func show(f *moment.Func, r moment.Rule) {
	j, err := moment.At(f, r, 0.3, 0.5, rng.New(1))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%v: %.4f, %.4f\n", r, j.Mean, j.Var)
}

// A function of one's own is a literal; its slope is found by differences.
func ExampleFunc() {
	f := &moment.Func{Name: "sensor", F: func(x float64) float64 { return x / (1 + x*x) }}
	show(f, moment.GaussHermite(9))
	fmt.Printf("%.4f\n", f.Slope(0))
	// Output:
	// gh(9): 0.1427, 0.1250
	// 1.0000
}

// Moments come with their derivatives by the Gaussian's mean and variance.
func ExampleAt() {
	j, err := moment.At(fn.Square(), moment.UT(2), -3, 1, rng.New(1))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.0f, %.0f\n", j.Mean, j.Var)
	fmt.Printf("%.0f %.0f %.0f %.0f\n", j.MeanByMean, j.MeanByVar, j.VarByMean, j.VarByVar)
	// Output:
	// 10, 38
	// -6 1 -24 40
}

func ExampleUT() {
	show(fn.Tanh(), moment.UT(2))
	show(fn.Tanh(), moment.UT(0.5))
	// Output:
	// ut(2): 0.2244, 0.2324
	// ut(0.5): 0.2006, 0.3013
}

// The layer that applies it has κ for a parameter.
func ExampleLearnedUT() {
	j, err := moment.At(fn.Tanh(), moment.LearnedUT(2), 0.3, 0.5, rng.New(1))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.4f, changing by %.4f with κ\n", j.Mean, j.MeanByKappa)
	// Output: 0.2244, changing by 0.0122 with κ
}

func ExampleInitialKappa() {
	raw := moment.InitialKappa(moment.LearnedUT(2))
	fmt.Printf("softplus(%.4f) = %.1f\n", raw, math.Log1p(math.Exp(raw)))
	// Output: softplus(1.8546) = 2.0
}

func ExampleGaussHermite() {
	show(fn.Tanh(), moment.GaussHermite(3)) // UT(2)
	show(fn.Tanh(), moment.GaussHermite(15))
	// Output:
	// gh(3): 0.2244, 0.2324
	// gh(15): 0.2150, 0.2560
}

// An input known to be skewed: its third moment is met too.
func ExampleGenUT() {
	show(fn.Tanh(), moment.GenUT(0, 3)) // UT(2)
	show(fn.Tanh(), moment.GenUT(1, 4.5))
	// Output:
	// genut(0,3): 0.2244, 0.2324
	// genut(1,4.5): 0.2000, 0.1872
}

func ExampleMonteCarlo() {
	show(fn.Tanh(), moment.MonteCarlo(10))
	show(fn.Tanh(), moment.MonteCarlo(10000))
	// Output:
	// mc(10): 0.2820, 0.1818
	// mc(10000): 0.2164, 0.2555
}

func ExampleExact() {
	show(fn.ReLU(), moment.Exact())
	_, err := moment.At(fn.Tanh(), moment.Exact(), 0.3, 0.5, rng.New(1))
	fmt.Println(err)
	// Output:
	// exact: 0.4571, 0.2603
	// exact: no closed form is known for tanh; use ut or gh
}

func ExampleLinear() {
	show(fn.Tanh(), moment.Linear())
	// Output: linear: 0.2913, 0.4187
}

func ExampleParse() {
	r, err := moment.Parse("gh(5)")
	fmt.Println(r, err)
	_, err = moment.Parse("gh(2.5)")
	fmt.Println(err)
	// Output:
	// gh(5) <nil>
	// rule "gh(2.5)": the number of points must be a whole number up to 1e9
}

func ExamplePointsAt() {
	x, w := moment.PointsAt(moment.UT(2), 10, 4, rng.New(1))
	for i := range x {
		fmt.Printf("%.3f with weight %.3f\n", x[i], w[i])
	}
	// Output:
	// 10.000 with weight 0.667
	// 6.536 with weight 0.167
	// 13.464 with weight 0.167
}

func ExampleEval() {
	y, slope := make([]float64, 2), make([]float64, 2)
	moment.Eval(fn.Square(), []float64{3, -1}, y, slope)
	fmt.Println(y, slope)
	// Output: [9 1] [6 -2]
}

// A tile pushes many elements at once and belongs to one goroutine.
func ExampleNewTile() {
	t := moment.NewTile[float32](fn.Square(), moment.UT(2))
	t.Mean, t.Var = []float32{-3, 0}, []float32{1, 1}
	t.Out.Mean, t.Out.Var = make([]float32, 2), make([]float32, 2)
	t.Push()
	fmt.Printf("%.3f %.3f\n", t.Out.Mean, t.Out.Var)
	// Output: [10.000 1.000] [38.000 2.000]
}
