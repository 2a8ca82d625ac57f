package expr

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"utvi/internal/compute/bytecode"
)

// formulas are of every kind.
var formulas = []string{
	"x/(1 + x^2)", "x*exp(-x^2/2)", "sqrt(1 + x^2)", "log(1 + x^2)", "atan(2*x - 1)", "asinh(x)",
	"x*tanh(softplus(x))", "sin(x)*exp(-abs(x))", "max(x, 0)^2", "clip(x, -1.5, 0.5)", "abs(x - 0.4) + min(x, 1)",
	"where(x > 0.3, sin(x), x^3)", "tanh(x)^2 + erf(x/2)", "sigmoid(3*x)*softplus(-x)", "gelu(x) - silu(x)",
	"exp(sin(x))", "cos(x^2/2)", "1/(2 + cos(x))", "x^2*sigmoid(x)", "normal_cdf(x)*normal_pdf(x - 1)",
	"abs(x)^1.3", "(1 + x^2)^-0.75", "expm1(-softplus(x))", "log1p(exp(2*x))/2", "normal_inverse(x)*0.3",
	"elu(x, 0.5) + leaky_relu(x - 1, 0.2)", "sinh(x)/cosh(2*x)", "x*erfc(x)", "sign(x)*sqrt(abs(x) + 0.1)",
	"2^(-x^2)", "tan(x/4)", "normal_inverse(tanh(x))^2",
}

// Slopes and curvatures are those of differences.
func TestDerivatives(t *testing.T) {
	if len(formulas) < 30 {
		t.Fatal("fewer than thirty formulas")
	}
	for _, text := range formulas {
		f, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		eval := func(x float64) (y [3]float64) {
			f.Limit.At(x, nil, append(y[:0:0], make([]float64, f.Limit.Outs)...))
			var out [64]float64
			f.Limit.At(x, nil, out[:f.Limit.Outs])
			return [3]float64{out[0], out[1], out[2]}
		}
		for x := -4.03; x < 4; x += 0.217 {
			if slices.ContainsFunc(f.Kinks, func(k float64) bool { return math.Abs(x-k) < 0.02 }) {
				continue
			}
			const h = 2e-3
			y := eval(x)
			for k := range 2 {
				d := func(n float64) float64 { return eval(x + n*h)[k] - eval(x - n*h)[k] }
				want := (45*d(1) - 9*d(2) + d(3)) / (60 * h)
				if got := y[k+1]; !(math.Abs(got-want) <= 1e-8*(math.Abs(want)+math.Abs(y[k])+0.1)) {
					t.Errorf("%s: derivative %d at %v is %v, differences give %v", text, k+1, x, got, want)
				}
			}
			// The three roads to a value agree.
			var v, p [2]float64
			f.Value.At(x, nil, v[:])
			f.Pair.At(x, nil, p[:])
			if math.Abs(v[0]-y[0]) > 1e-15*math.Abs(y[0]) || math.Abs(p[0]-y[0]) > 1e-15*math.Abs(y[0]) || math.Abs(p[1]-y[1]) > 1e-14*(math.Abs(y[1])+1e-3) {
				t.Errorf("%s at %v: value %v, pair %v, limit %v", text, x, v[0], p, y)
			}
		}
	}
}

// In float32, on vectors, a program gives what it gives in float64.
func TestFloat32(t *testing.T) {
	for _, text := range formulas {
		f, _ := Parse(text)
		const n = 301
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(i-150) / 37
		}
		out := [][]float32{make([]float32, n), make([]float32, n)}
		bytecode.NewMachine[float32](f.Pair).Run(x, nil, out)
		for i, v := range x {
			if slices.ContainsFunc(f.Kinks, func(k float64) bool { return math.Abs(float64(v)-k) < 1e-3 }) {
				continue
			}
			var want [2]float64
			f.Pair.At(float64(v), nil, want[:])
			for k := range want {
				if !(math.Abs(float64(out[k][i])-want[k]) <= 1e-5*(math.Abs(want[k])+0.1)) {
					t.Fatalf("%s at %v: %v and %v, want %v", text, v, out[0][i], out[1][i], want)
				}
			}
		}
	}
}

// Kinks are found: where arguments are linear to the last place, else to rounding.
func TestKinks(t *testing.T) {
	r2 := math.Sqrt2
	for text, want := range map[string][]float64{
		"abs(x)":                            {0},
		"abs(3*x - 1)":                      {1.0 / 3},
		"max(x, 0) + max(x, 1e9)":           {0, 1e9},
		"clip(x, -2, 5)":                    {-2, 5},
		"where(x >= 0.25, x, x^2)":          {0.25},
		"abs(x^2 - 2)":                      {-r2, r2},
		"max(x^2, 1)":                       {-1, 1},
		"min(exp(x), 2)":                    {math.Log(2)},
		"max(x^2 - 1e-6, 0)":                {-1e-3, 1e-3},
		"abs((x - 0.51)*(x - 0.53))":        {0.51, 0.53}, // between two points of the grid
		"sign(tanh(x - 7))":                 {7},
		"abs(x^3 - 1e12)":                   {1e4},
		"where((x > 1)*(x < 2), x, 0)":      {1, 2},
		"abs(x*x)":                          nil, // touched, not crossed
		"tanh(x) + x^3":                     nil,
		"x*a + abs(x - a); a = learned 0.7": {0.7},
		"max(abs(x) - 1, 0)":                {-1, 0, 1},
	} {
		f, err := ParseText(text)
		if err != nil {
			t.Fatal(err)
		}
		// A difference of two whose zero is a tangent's may add a harmless one.
		if !slices.EqualFunc(f.Kinks, want, func(a, b float64) bool { return math.Abs(a-b) <= 4e-15*(math.Abs(b)+1e-9) }) {
			t.Errorf("%s has kinks %v, want %v", text, f.Kinks, want)
		}
	}
	f, err := Parse("abs(sin(x))")
	if err != nil || len(f.Kinks) < 19 {
		t.Fatalf("%d kinks, %v", len(f.Kinks), err)
	}
	for _, k := range f.Kinks {
		if n := math.Round(k / math.Pi); math.Abs(n) < 10 && math.Abs(k-n*math.Pi) > 1e-14*(1+math.Abs(k)) {
			t.Errorf("abs(sin(x)) has a kink at %v", k)
		}
	}
}

// Formulas become what keeps their digits.
func TestSimplification(t *testing.T) {
	for text, want := range map[string]string{
		"log(1 + exp(x))":                       "softplus(x)",
		"log(exp(3*x) + 1)":                     "softplus(3 * x)",
		"log1p(exp(x))":                         "softplus(x)",
		"1/(1 + exp(-x))":                       "sigmoid(x)",
		"1/(1 + exp(x))":                        "sigmoid(-x)",
		"exp(x)/(exp(x) + 1)":                   "sigmoid(x)",
		"x/(1 + exp(-x))":                       "x * sigmoid(x)",
		"1 - sigmoid(x)":                        "sigmoid(-x)",
		"exp(x) - 1":                            "expm1(x)",
		"1 - exp(x)":                            "-expm1(x)",
		"log(1 + x^2)":                          "log1p(x * x)",
		"log(sigmoid(x))":                       "-softplus(-x)",
		"0.5*x*(1 + erf(x/sqrt(2)))":            "x * normal_cdf(x)",
		"(1 - erf(x))/2":                        "normal_cdf(-1.4142135623730951 * x)",
		"(exp(x) - exp(-x))/(exp(x) + exp(-x))": "tanh(x)",
		"sinh(x)/cosh(x)":                       "",
		"2*sigmoid(2*x) - 1":                    "tanh(x)",
		"1 - tanh(x)^2":                         "tanh'(x)",
		"max(0, x)":                             "max(x, 0)",
		"max(x, -x)":                            "abs(x)",
		"sqrt(x^2)":                             "abs(x)",
		"where(x > 0, x, 0)":                    "max(x, 0)",
		"max(x, 0.1*x)":                         "where(0 < x, x, 0.1 * x)",
		"x + 0*x^9 + 1*x":                       "2 * x",
		"1 + x + 2 - 3":                         "x",
		"2*(3*x)/6":                             "x",
		"x/x + x":                               "1 + x",
		"--x":                                   "x",
		"-(1 - x)":                              "-1 + x",
		"x*(1/sin(x))":                          "x / sin(x)",
		"tanh(-x)":                              "-tanh(x)",
		"log(exp(x))":                           "x",
	} {
		f, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Expr.String(); want != "" && got != want {
			t.Errorf("%s becomes %s, want %s", text, got, want)
		}
	}
}

// What is written is read back as the same function.
func TestRoundTrip(t *testing.T) {
	for _, text := range formulas {
		f, _ := Parse(text)
		g, err := Parse(f.Expr.String())
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range []float64{-3.3, -0.2, 0.9, 2.2} {
			var a, b [1]float64
			f.Value.At(x, nil, a[:])
			g.Value.At(x, nil, b[:])
			if math.Abs(a[0]-b[0]) > 1e-14*math.Abs(a[0]) {
				t.Errorf("%s, written %s: %v and %v at %v", text, f.Expr, a[0], b[0], x)
			}
		}
	}
	for _, text := range []string{"a*tanh(b*x); a = 1; b = learned 0.5", "a*x; a = learned per unit -2.5e-07", "a*x; a = [1, -2.5]", "a*x; a = learned [1, 2]"} {
		f, err := ParseText(text)
		if err != nil || f.String() != text {
			t.Errorf("%q is written %v, %v", text, f, err)
		}
	}
}

// Common parts are computed once: programs are as short as they can be.
func TestPrograms(t *testing.T) {
	for text, want := range map[string]int{
		"x/(1 + x*x)":            5, // product and sum; quotient; product; difference; quotient
		"x*sigmoid(x)":           3, // kernel; product; product and sum
		"log(1 + exp(x))":        1,
		"softplus(x)*sigmoid(x)": 5,
		"sin(x)*cos(x)":          4,
	} {
		f, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(f.Pair.Code); n > want {
			t.Errorf("%s takes %d instructions with its slope, want %d", text, n, want)
		}
	}
}

func ExampleParse() {
	f, err := Parse("x*sigmoid(b*x)", Param{Name: "b", Value: 1.7, Learned: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(f.Expr)
	fmt.Println(f.Slope)
	fmt.Println(f)
	// Output:
	// x * sigmoid(x * b)
	// sigmoid(x * b) + x * (b * sigmoid'(x * b))
	// x*sigmoid(b*x); b = learned 1.7
}

func ExampleExpr_Walk() {
	f, _ := Parse("x/(1 + x^2)")
	f.Expr.Walk(func(e *Expr) { fmt.Println(e) })
	// Output:
	// x
	// 1
	// x * x
	// 1 + x * x
	// x / (1 + x * x)
}

// FuzzFormula: no text crashes, hangs or gives a formula that is not read back.
func FuzzFormula(f *testing.F) {
	for _, text := range formulas {
		f.Add(text)
	}
	for _, text := range []string{"a*tanh(b*x); a = 1; b = learned 0.5", "x; a = [1,2]", "2x", "((x", "x^x^x", "where(x<1,abs(x),-x)", "1/0*x", "é", "x^1e9", "a*x; a = learned per unit 1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		g, err := ParseText(text)
		if err != nil {
			return
		}
		again, err := ParseText(g.String())
		if err != nil || again.String() != g.String() {
			t.Fatalf("%q is written %q: %v", text, g, err)
		}
		start := make([]float64, len(g.Inputs))
		for i, p := range g.Inputs {
			start[i] = p.Start(0)
		}
		out, other := make([]float64, g.Limit.Outs), make([]float64, again.Limit.Outs)
		for _, x := range []float64{-3.7, 0, 0.4, 1e30} {
			g.Limit.At(x, start, out)
			again.Limit.At(x, start, other)
			for i := range out {
				if out[i] != other[i] && out[i] == out[i] {
					t.Fatalf("%q at %v: %v and %v", text, x, out, other)
				}
			}
		}
		m := bytecode.NewMachine[float32](g.Train)
		plane := func() []float32 { return make([]float32, 9) }
		var in, outs [][]float32
		for range g.Inputs {
			in = append(in, plane())
		}
		for range g.Train.Outs {
			outs = append(outs, plane())
		}
		m.Run(plane(), in, outs)
		if !slices.IsSorted(g.Kinks) {
			t.Fatalf("%q has kinks %v", text, g.Kinks)
		}
		_ = g.Expr.String() + g.Slope.String() + g.Curvature.String()
	})
}
