package fn_test

import (
	"fmt"

	"utvi/fn"
	"utvi/moment"
	"utvi/rng"
)

// show prints a function's value at 1 and the moments it makes of N(0.5, 1), by
// its closed form or, where none is known, by quadrature.
func show(f *moment.Func) {
	rule := moment.Exact()
	if f.Exact == nil {
		rule = moment.GaussHermite(21)
	}
	j, err := moment.At(f, rule, 0.5, 1, rng.New(1))
	if err != nil {
		panic(err)
	}
	fmt.Printf("%s: f(1) = %.3f, mean %.3f, variance %.3f by %v\n", f.Name, f.F(1), j.Mean, j.Var, rule)
}

func ExampleAbs() {
	show(fn.Abs())
	// Output: abs: f(1) = 1.000, mean 0.896, variance 0.448 by exact
}

func ExampleCos() {
	show(fn.Cos())
	// Output: cos: f(1) = 0.540, mean 0.532, variance 0.253 by exact
}

func ExampleELU() {
	show(fn.ELU(1))
	// Output: elu(1): f(1) = 1.000, mean 0.571, variance 0.785 by exact
}

func ExampleErf() {
	show(fn.Erf())
	// Output: erf: f(1) = 0.843, mean 0.317, variance 0.410 by exact
}

func ExampleExp() {
	show(fn.Exp())
	// Output: exp: f(1) = 2.718, mean 2.718, variance 12.696 by exact
}

func ExampleGELU() {
	show(fn.GELU())
	// Output: gelu: f(1) = 0.841, mean 0.584, variance 0.578 by exact
}

func ExampleIdentity() {
	show(fn.Identity())
	// Output: identity: f(1) = 1.000, mean 0.500, variance 1.000 by exact
}

func ExampleNormalCDF() {
	show(fn.NormalCDF())
	// Output: normal-cdf: f(1) = 0.841, mean 0.638, variance 0.075 by exact
}

func ExampleSiLU() {
	show(fn.SiLU())
	// Output: silu: f(1) = 0.731, mean 0.500, variance 0.507 by gh(21)
}

func ExampleSigmoid() {
	show(fn.Sigmoid())
	// Output: sigmoid: f(1) = 0.731, mean 0.602, variance 0.041 by gh(21)
}

func ExampleSin() {
	show(fn.Sin())
	// Output: sin: f(1) = 0.841, mean 0.291, variance 0.379 by exact
}

func ExampleSoftplus() {
	show(fn.Softplus())
	// Output: softplus: f(1) = 1.313, mean 1.082, variance 0.383 by gh(21)
}

func ExampleSquare() {
	show(fn.Square())
	// Output: square: f(1) = 1.000, mean 1.250, variance 3.000 by exact
}

func ExampleTanh() {
	show(fn.Tanh())
	// Output: tanh: f(1) = 0.762, mean 0.295, variance 0.351 by gh(21)
}

func ExampleNames() {
	names := fn.Names()
	fmt.Println(names[0], names[len(names)-1])
	// Output: abs tanh
}

func ExampleNamedMap() {
	m, err := fn.NamedMap("softmax")
	fmt.Println(m.Name, m.Outputs(10), err)
	// Output: softmax 10 <nil>
}
