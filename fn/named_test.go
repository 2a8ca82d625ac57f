package fn_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"utvi/fn"
	"utvi/internal/compute/kernel"
	"utvi/moment"
)

func TestNamed(t *testing.T) {
	for _, n := range fn.Names() {
		f, err := fn.Named(n)
		if err != nil {
			t.Fatal(err)
		}
		if base, _, _ := strings.Cut(f.Name, "("); base != n {
			t.Errorf("Named(%q) is called %q", n, f.Name)
		}
		again, err := fn.Named(f.Name)
		if err != nil || again.Name != f.Name || again.A != f.A || again.Op != f.Op {
			t.Errorf("%q does not find itself again: %v", f.Name, err)
		}
		if f.Op == kernel.OpUser && f.Formula == nil || f.DF == nil || f.D2F == nil {
			t.Errorf("%s lacks its Op and its Formula, or a derivative", n)
		}
	}
	for name, a := range map[string]float64{"leaky-relu": 0.01, "elu": 1, "leaky-relu(0.2)": 0.2, "elu(-1e-3)": -1e-3, "leaky-relu(0.30000000000000004)": 0.30000000000000004, "relu": 0, "abs": -1} {
		if f, err := fn.Named(name); err != nil || f.A != a {
			t.Errorf("Named(%q): %v, parameter %g, want %g", name, err, f.A, a)
		}
	}
	for name, want := range map[string]string{
		"reluu":           "the functions are abs, ",
		"tanh(2)":         "does not depend on x",
		"leaky-relu(x)":   "finite number in parentheses, as in \"leaky-relu(0.01)\"",
		"leaky-relu(0.1":  "finite number",
		"elu(Inf)":        "finite number",
		"leaky-relu(1)) ": "finite number",
	} {
		if _, err := fn.Named(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Named(%q): error %v, want %q", name, err, want)
		}
	}
}

// TestEnds holds the functions at both ends of float32 and of their tails.
func TestEnds(t *testing.T) {
	for _, f := range all() {
		for _, x := range []float64{-math.MaxFloat32, -1e10, -800, -39, 39, 800, 1e10, math.MaxFloat32} {
			if f.Name == "exp" && x > 700 {
				continue
			}
			for what, y := range map[string]float64{"value": f.F(x), "slope": f.DF(x), "curvature": f.D2F(x)} {
				if math.IsNaN(y) || math.IsInf(y, 0) {
					t.Errorf("%s: %s at %g is %g", f.Name, what, x, y)
				}
			}
		}
	}
}

// A ReLU is 0 on the whole left side, its end included.
func TestReLUAtTheEnds(t *testing.T) {
	f := fn.ReLU()
	if f.F(math.Inf(-1)) != 0 || !math.IsInf(f.F(math.Inf(1)), 1) || f.F(-2) != 0 || f.F(2) != 2 {
		t.Errorf("%v, %v, %v, %v", f.F(math.Inf(-1)), f.F(math.Inf(1)), f.F(-2), f.F(2))
	}
}

func TestInverseTransform(t *testing.T) {
	exponential := func(p float64) float64 { return -math.Log1p(-p) }
	f := fn.InverseTransform("exponential-prior", exponential, func(p float64) float64 { return 1 / (1 - p) })
	for _, x := range []float64{-700, -3, 0.2, 5} { // Q(sigmoid(t)) = softplus(t)
		if math.Abs(f.F(x)/fn.Softplus().F(x)-1) > 1e-13 || math.Abs(f.DF(x)/fn.Sigmoid().F(x)-1) > 1e-13 {
			t.Errorf("at %g: %g, slope %g", x, f.F(x), f.DF(x))
		}
	}
	for _, x := range []float64{38, 1e5, -746, -1e5, math.MaxFloat32, -math.MaxFloat32} {
		if y := f.F(x); math.IsInf(y, 0) || math.IsNaN(y) || math.IsNaN(f.DF(x)) || f.DF(x) != 0 {
			t.Errorf("held at %g: %g, slope %g", x, y, f.DF(x))
		}
	}
	if fn.InverseTransform("q", exponential, nil).DF != nil {
		t.Error("a slope out of nowhere")
	}
}

func ExampleReLU() {
	j := fn.ReLU().Exact(-2, 1)
	fmt.Printf("mean %.6f, variance %.6f\n", j.Mean, j.Var)
	// Output: mean 0.008491, variance 0.005697
}

func ExampleLeakyReLU() {
	f := fn.LeakyReLU(0.01)
	fmt.Println(f.Name, f.F(-3), f.Exact(-6, 1).Var > 0.9e-4)
	// Output: leaky-relu(0.01) -0.03 true
}

func ExampleNamed() {
	f, err := fn.Named("elu(0.5)")
	fmt.Println(f.Name, f.A, err)
	_, err = fn.Named("elu(big)")
	fmt.Println(err)
	// Output:
	// elu(0.5) 0.5 <nil>
	// fn: "elu(big)" needs a finite number in parentheses, as in "elu(1)"
}

func ExampleNormalInverse() {
	g := fn.NormalInverse()
	fmt.Printf("%.4f %.4f %.4g\n", g.F(0.1), g.F(-40), g.F(math.MaxFloat32))
	// Output: 0.0627 -8.5927 2.609e+19
}

func ExampleInverseTransform() {
	uniform := fn.InverseTransform("uniform(2,5)",
		func(p float64) float64 { return 2 + 3*p },
		func(float64) float64 { return 3 })
	fmt.Println(uniform.F(0), uniform.DF(0))
	// Output: 3.5 0.75
}

func Example() {
	for _, f := range []*moment.Func{fn.Identity(), fn.ELU(1), fn.GELU(), fn.NormalCDF(), fn.Erf(), fn.Exp(), fn.Sin(), fn.Cos(), fn.Abs(), fn.Square()} {
		j := f.Exact(0.5, 0.25)
		fmt.Printf("%-10s mean %7.4f  variance %.4f\n", f.Name, j.Mean, j.Var)
	}
	for _, f := range []*moment.Func{fn.SiLU(), fn.Softplus(), fn.Sigmoid(), fn.Tanh()} {
		fmt.Printf("%-10s f(0.5) %7.4f  slope %.4f\n", f.Name, f.F(0.5), f.DF(0.5))
	}
	// Output:
	// identity   mean  0.5000  variance 0.2500
	// elu(1)     mean  0.5078  variance 0.2343
	// gelu       mean  0.4170  variance 0.1700
	// normal-cdf mean  0.6726  variance 0.0267
	// erf        mean  0.4363  variance 0.1624
	// exp        mean  1.8682  variance 0.9913
	// sin        mean  0.4231  variance 0.1571
	// cos        mean  0.7745  variance 0.0641
	// abs        mean  0.5833  variance 0.1597
	// square     mean  0.5000  variance 0.3750
	// silu       f(0.5)  0.3112  slope 0.7400
	// softplus   f(0.5)  0.9741  slope 0.6225
	// sigmoid    f(0.5)  0.6225  slope 0.2350
	// tanh       f(0.5)  0.4621  slope 0.7864
}
