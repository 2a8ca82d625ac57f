package fn_test

import (
	"fmt"
	"math"
	"testing"

	"utvi/fn"
	"utvi/internal/compute/bytecode"
	"utvi/internal/expr"
	"utvi/internal/quad"
	"utvi/moment"
)

// spellings are the functions with a kernel, spelt out.
var spellings = map[string][]string{
	"identity":        {"x", "2*x - x", "identity(x)"},
	"relu":            {"max(x, 0)", "max(0, x)", "where(x > 0, x, 0)", "relu(x)"},
	"abs":             {"abs(x)", "max(x, -x)", "sqrt(x^2)", "where(x > 0, x, -x)"},
	"leaky-relu(0.2)": {"max(x, 0.2*x)", "where(x > 0, x, x/5)", "leaky_relu(x, 0.2)"},
	"leaky-relu(1.7)": {"where(x > 0, x, 1.7*x)"},
	"elu(1)":          {"where(x > 0, x, exp(x) - 1)", "elu(x)"},
	"elu(-1)":         {"where(x > 0, x, 1 - exp(x))"},
	"elu(0.3)":        {"where(x > 0, x, 0.3*expm1(x))", "elu(x, 0.3)"},
	"gelu":            {"x*normal_cdf(x)", "x/2*(1 + erf(x/sqrt(2)))", "gelu(x)"},
	"silu":            {"x*sigmoid(x)", "x/(1 + exp(-x))", "silu(x)"},
	"softplus":        {"log(1 + exp(x))", "log1p(exp(x))", "softplus(x)"},
	"sigmoid":         {"1/(1 + exp(-x))", "exp(x)/(1 + exp(x))", "1 - sigmoid(-x)"},
	"tanh":            {"tanh(x)", "(exp(x) - exp(-x))/(exp(x) + exp(-x))", "2*sigmoid(2*x) - 1"},
	"erf":             {"erf(x)"},
	"normal-cdf":      {"normal_cdf(x)", "(1 + erf(x/sqrt(2)))/2"},
	"exp":             {"exp(x)", "e^x"},
	"sin":             {"sin(x)"},
	"cos":             {"cos(x)"},
	"square":          {"x^2", "x*x", "square(x)"},
	"normal-inverse":  {"normal_inverse(x)"},
}

// raw is the function of a formula's program, whatever function it spells.
func raw(t *testing.T, text string) *moment.Func {
	t.Helper()
	g, err := expr.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	at := func(p *bytecode.Program, i int) func(float64) float64 {
		return func(x float64) float64 {
			out := make([]float64, p.Outs)
			p.At(x, nil, out)
			return out[i]
		}
	}
	return &moment.Func{Name: text, F: at(g.Value, 0), DF: at(g.Pair, 1), D2F: at(g.Bend, 0), Kinks: g.Kinks, Formula: g}
}

// Every function with a kernel, spelt as a formula, becomes that function; and what
// the formula itself computes is the same to rounding: values, slopes, curvatures
// far into the tails, and moments by every rule.
func TestSpellings(t *testing.T) {
	for _, name := range fn.Names() {
		f, _ := fn.Named(name)
		if _, ok := spellings[f.Name]; !ok && f.Formula == nil && f.Name != "leaky-relu(0.01)" {
			t.Errorf("%s is not spelt", f.Name)
		}
	}
	for name, texts := range spellings {
		f, err := fn.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		if g := f.Expr(); g == nil {
			t.Errorf("%s has no expression", name)
		}
		for _, text := range texts {
			g, err := fn.Formula(text)
			if err != nil {
				t.Fatal(err)
			}
			if g.Name != f.Name || g.Op != f.Op || math.Abs(g.A-f.A) > 1e-16 {
				t.Errorf("%s becomes %s, want %s", text, g.Name, f.Name)
			}
			r := raw(t, text)
			sameFunction(t, f, r)
			sameMoments(t, f, r)
		}
	}
}

func sameFunction(t *testing.T, f, g *moment.Func) {
	t.Helper()
	xs := []float64{-math.MaxFloat32, -1e10, -700, -36, 38, 80, 700, 1e10, math.MaxFloat32, 0}
	for x := -30.0; x < 31; x += 0.37 {
		xs = append(xs, x)
	}
	for _, x := range xs {
		if x == 0 && len(f.Kinks) > 0 {
			x = -1e-300
		}
		for what, y := range map[string][2]float64{"value": {f.F(x), g.F(x)}, "slope": {f.DF(x), g.DF(x)}, "curvature": {f.D2F(x), g.D2F(x)}} {
			// Near a zero that is passed through, the size of the terms counts.
			slack := 2e-15 * math.Abs(x) * math.Exp(-math.Abs(x))
			if y[0] == y[1] || math.Abs(y[0]-y[1]) <= 1e-13*math.Abs(y[0])+slack || math.Max(math.Abs(y[0]), math.Abs(y[1])) < 1e-300 {
				continue
			}
			t.Errorf("%s: %s at %v is %v, of %s %v", g.Name, what, x, y[1], f.Name, y[0])
		}
	}
}

var everyRule = []moment.Rule{
	moment.UT(2), moment.UT(0.5), moment.LearnedUT(1.3), moment.GaussHermite(2), moment.GaussHermite(5),
	moment.GaussHermite(32), moment.GenUT(0.4, 3.7), moment.MonteCarlo(29), moment.Linear(),
}

func sameMoments(t *testing.T, f, g *moment.Func) {
	t.Helper()
	for _, r := range everyRule {
		for _, c := range [][2]float64{{0.3, 0.5}, {-1.9, 1.3}, {-25, 4}, {14, 0.2}, {0.7, 1e-13}} {
			a, err := moment.At(f, r, c[0], c[1], [2]uint32{})
			if err != nil {
				t.Fatal(err)
			}
			b, err := moment.At(g, r, c[0], c[1], [2]uint32{})
			if err != nil {
				t.Fatal(err)
			}
			x, y := []float64{a.Mean, a.Var, a.MeanByMean, a.MeanByVar, a.VarByMean, a.VarByVar}, []float64{b.Mean, b.Var, b.MeanByMean, b.MeanByVar, b.VarByMean, b.VarByVar}
			for i := range x {
				// Sums of terms of either sign lose what cancels.
				if !(math.Abs(x[i]-y[i]) <= 1e-11*(math.Abs(x[i])+1e-3*(math.Abs(x[0])+math.Abs(x[1])))) && math.Abs(x[i]) > 1e-290 {
					t.Errorf("%s by %v over N(%v, %v): %v, of %s %v", g.Name, r, c[0], c[1], y, f.Name, x)
					break
				}
			}
		}
	}
}

// thirty formulas and more, of every kind.
var thirty = []string{
	"x/(1 + x^2)", "x*exp(-x^2/2)", "sqrt(1 + x^2)", "log(1 + x^2)", "atan(2*x - 1)", "asinh(x)",
	"x*tanh(softplus(x))", "sin(x)*exp(-abs(x))", "max(x, 0)^2", "clip(x, -1.5, 0.5)", "abs(x - 0.4) + min(x, 1)",
	"where(x > 0.3, sin(x - 0.3), (x - 0.3)^3)", "tanh(x)^2 + erf(x/2)", "sigmoid(3*x)*softplus(-x)", "gelu(x) - silu(x) + x",
	"exp(sin(x))", "cos(x^2/4)", "1/(2 + cos(x))", "x^2*sigmoid(x)", "normal_cdf(x)*normal_pdf(x - 1)",
	"abs(x)^1.3", "(1 + x^2)^-0.75", "expm1(-softplus(x))", "log1p(exp(2*x))/2", "normal_inverse(x)*0.3",
	"elu(x, 0.5) + leaky_relu(x - 1, 0.2)", "sinh(x)/cosh(2*x)", "x*erfc(x)", "sign(x)*(sqrt(abs(x) + 0.1) - sqrt(0.1))",
	"2^(-x^2)", "normal_inverse(tanh(x))^2", "1.05*elu(x, 1.67)",
}

// Every rule through thirty formulas against quadrature: within what the terms that
// it leaves out can be at a small variance, and to 1e-6 for 32 points at a large one
// unless a kink is near.
func TestThirtyFormulas(t *testing.T) {
	if len(thirty) < 30 {
		t.Fatal("fewer than thirty")
	}
	for _, text := range thirty {
		f, err := fn.Formula(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range []float64{-1.3, 0.17, 0.9} {
			for _, v := range []float64{1e-4, 0.09} {
				mean, variance, err := quad.Moments(f, m, v)
				if err != nil {
					t.Fatal(err)
				}
				for _, r := range everyRule {
					em, ev, ok := leftOut(f, r, m, v)
					if moment.Draws(r) { // five standard errors of a heavy-tailed sample
						em = 5 * math.Sqrt(variance/29)
						ev = 2 * variance
						ok = true
					}
					if !ok {
						continue
					}
					j, err := moment.At(f, r, m, v, [2]uint32{})
					if err != nil {
						t.Fatal(err)
					}
					if !(math.Abs(j.Mean-mean) <= em+1e-13*math.Abs(mean)) || !(math.Abs(j.Var-variance) <= ev+1e-11*variance+1e-30) {
						t.Errorf("%s by %v over N(%v, %v): %v, %v; quadrature %v, %v; errors up to %.2g, %.2g", text, r, m, v, j.Mean, j.Var, mean, variance, em, ev)
					}
				}
			}
		}
	}
}

// leftOut bounds the terms that a rule leaves out, from the largest derivatives
// nearby; ok is false where a kink is near, or terms of all orders count.
func leftOut(f *moment.Func, r moment.Rule, m, v float64) (mean, variance float64, ok bool) {
	s := math.Sqrt(v)
	for _, k := range f.Kinks {
		if math.Abs(k-m) < 12*s {
			return 0, 0, false
		}
	}
	if r.String() == "gh(32)" {
		return 1e-6 * s, 1e-6 * v, true
	}
	if v > 0.01 {
		return 0, 0, false
	}
	var d, c, third float64
	for u := -6.0; u <= 6; u++ {
		x := m + u*s
		d, c = max(d, math.Abs(f.DF(x))), max(c, math.Abs(f.D2F(x)))
		third = max(third, math.Abs(f.D2F(x+s/8)-f.D2F(x-s/8))/(s/4))
	}
	if r.String() == "linear" {
		return 0.5001*v*c + v*s*third, v * v * (c*c + 4*d*third), true
	}
	mean = s * s * s * third
	if r.String() == "genut(0.4,3.7)" { // it looks for a skewed input
		return mean, 0.8*s*s*s*d*c + 4*v*v*(c*c+d*third), true
	}
	return mean, 2 * v * v * (c*c + d*third), true
}

func TestFormulaPanics(t *testing.T) {
	defer func() {
		if r := recover(); r == nil {
			t.Error("no panic")
		}
	}()
	fn.MustFormula("x +")
}

func TestNamedFormula(t *testing.T) {
	for _, text := range []string{"x / (1 + x^2)", "-x", "x-1", "a*tanh(b*x); a = 1; b = learned 0.5"} {
		f, err := fn.Named(text)
		if err != nil {
			t.Fatal(err)
		}
		again, err := fn.Named(f.Name)
		if err != nil || again.Name != f.Name || again.F(0.3) != f.F(0.3) {
			t.Errorf("%q, named %q, is not found again: %v", text, f.Name, err)
		}
	}
}

func ExampleFormula() {
	f, err := fn.Formula("a*tanh(b*x)", fn.Fixed("a", 1.7), fn.Learned("b", 0.5))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(f.Name)
	fmt.Printf("%.4f %.4f\n", f.F(1), f.DF(1))
	_, err = fn.Formula("x / (1 + y^2)")
	fmt.Println(err)
	// Output:
	// a*tanh(b*x); a = 1.7; b = learned 0.5
	// 0.7856 0.6685
	// formula "x / (1 + y^2)": character 10: y is not defined; write x, or make y a parameter
}
