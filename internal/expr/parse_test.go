package expr

import (
	"math"
	"strings"
	"testing"
	"time"
)

func at(t *testing.T, text string, x float64) float64 {
	t.Helper()
	f, err := ParseText(text)
	if err != nil {
		t.Fatal(err)
	}
	start := make([]float64, len(f.Inputs))
	for i, p := range f.Inputs {
		start[i] = p.Start(0)
	}
	var out [1]float64
	f.Value.At(x, start, out[:])
	return out[0]
}

// Values, at x = 1.5 unless said: precedence, associativity, every function.
func TestValues(t *testing.T) {
	const x = 1.5
	for text, want := range map[string]float64{
		"-x^2":                          -2.25,
		"2^3^2 + 0*x + x - x":           math.NaN(), // does not depend on x
		"x^2^0.5":                       math.Pow(x, math.Sqrt2),
		"5 - (2 + x)":                   1.5,
		"5 - (2 - x)":                   4.5,
		"5 + (2 - x)":                   5.5,
		"5 + (2 + x)":                   8.5,
		"x - 1 - 1":                     -0.5,
		"x / 2 / 2":                     x / 4,
		"x*2^-1":                        0.75,
		"-x*-2":                         3,
		"2 - -x":                        3.5,
		"+x":                            x,
		"1 + x < 3":                     1,
		"(x > 1)*(x <= 1.5)":            1,
		"x >= 2":                        0,
		"x == 1.5":                      1,
		"x != 1.5":                      0,
		"where(x > 1, x, 7)":            x,
		"where(x - 1.5, 2, 3)*x":        3 * x,
		"min(x, 1, 3)*x":                x,
		"max(x, 1, 3)*x":                3 * x,
		"clip(x, -1, 1)":                1,
		"sign(-x)":                      -1,
		"abs(x - 3)":                    1.5,
		"pi*x + e":                      math.Pi*x + math.E,
		".5e1*x":                        7.5,
		"1e2*x":                         150,
		"exp(x)":                        math.Exp(x),
		"expm1(x)":                      math.Expm1(x),
		"log(x)":                        math.Log(x),
		"log1p(x)":                      math.Log1p(x),
		"sqrt(x)":                       math.Sqrt(x),
		"sin(x) + cos(x)":               math.Sin(x) + math.Cos(x),
		"tan(x)":                        math.Tan(x),
		"atan(x)":                       math.Atan(x),
		"tanh(x)":                       math.Tanh(x),
		"sinh(x)":                       math.Sinh(x),
		"cosh(x)":                       math.Cosh(x),
		"asinh(x)":                      math.Asinh(x),
		"asinh(-x)":                     -math.Asinh(x),
		"erf(x)":                        math.Erf(x),
		"erfc(x)":                       math.Erfc(x),
		"sigmoid(x)":                    1 / (1 + math.Exp(-x)),
		"softplus(x)":                   math.Log1p(math.Exp(x)),
		"normal_cdf(x)":                 math.Erfc(-x/math.Sqrt2) / 2,
		"normal_pdf(x)":                 math.Exp(-x*x/2) / math.Sqrt(2*math.Pi),
		"relu(-x) + relu(x)":            x,
		"leaky_relu(-x)":                -0.015,
		"leaky_relu(-x, 0.5)":           -0.75,
		"elu(-x, 2)":                    2 * math.Expm1(-x),
		"gelu(x)":                       x * math.Erfc(-x/math.Sqrt2) / 2,
		"silu(x)":                       x / (1 + math.Exp(-x)),
		"square(x) + identity(x)":       x*x + x,
		"pow(x, 3)":                     3.375,
		"x^-2":                          1 / 2.25,
		"x^2.5":                         math.Pow(x, 2.5),
		"x^0.3":                         math.Pow(x, 0.3),
		"x^13":                          math.Pow(x, 13),
		"(-x)^3":                        -3.375,
		"x^x":                           math.Pow(x, x),
		"2^x":                           math.Exp2(x),
		"(-x)^2000/x^1999":              math.NaN(), // overflows
		"(x/2)^3001":                    math.Pow(0.75, 3001),
		"(-x/2)^3001":                   math.Pow(-0.75, 3001),
		"a*x + b; a = 2; b = -1":        2,
		"a*x; a = learned 3":            4.5,
		"a*x; a = learned per unit 4":   6,
		"a*x; a = [5, 6]":               7.5,
		"a*x;a=learned [1,2] ":          1.5,
		"a_1*x; a_1 = 1e-2":             0.015,
		"max(x, 2*x) + min(x, 2*x)":     3 * x,
		"where(x > 0, 1, 0)*x":          x,
		"1 - sigmoid(x)":                1 / (1 + math.Exp(x)),
		"1 - erf(x)":                    math.Erfc(x),
		"exp(x)/(1 + exp(x))":           1 / (1 + math.Exp(-x)),
		"(exp(2*x) - 1)/(exp(2*x) + 1)": math.Tanh(x),
		"2*sigmoid(2*x) - 1":            math.Tanh(x),
		"1 - tanh(x)^2":                 1 / math.Pow(math.Cosh(x), 2),
		"log(sigmoid(x))":               -math.Log1p(math.Exp(-x)),
	} {
		if want != want {
			continue
		}
		if got := at(t, text, x); !(math.Abs(got-want) <= 4e-15*math.Abs(want)) {
			t.Errorf("%s = %v, want %v", text, got, want)
		}
	}
}

// An error names the character, what stands there and what would be right.
func TestParseErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                           `formula "": character 1: found the end; expected a number, x, a function or (`,
		"x + ":                       `character 5: found the end; expected a number, x, a function or (`,
		"  x + y":                    `character 7: y is not defined; add "; y = 1" or "; y = learned 1"`,
		"x + y; a = 1":               `character 5: y is not defined; add "; y = 1" or "; y = learned 1"`,
		"(x + 1":                     `character 7: found the end; expected ")"`,
		"x)":                         `character 2: found ")"; expected an operator or the end`,
		"x x":                        `character 3: found "x"; expected an operator or the end`,
		"2x":                         `character 2: found "x" after a number; write * between factors`,
		"2(x)":                       `character 2: found "(" after a number; write * between factors`,
		"é + x":                      `character 1: found "é"; expected numbers, names, + - * / ^, comparisons and parentheses`,
		"x + é":                      `character 5: found "é"`,
		"x\x00":                      `character 2: found the character U+0000`,
		"x ** 2":                     `character 3: found "**"; write ^ for powers`,
		"x = 2":                      `character 3: found "="; write == to compare`,
		"1 < x < 2":                  `character 7: found a second comparison; write (a < b)*(b < c) for both`,
		"tanh":                       `character 1: tanh is a function; write tanh(x)`,
		"tanhh(x)":                   `character 1: unknown function tanhh; the functions are abs, asinh`,
		"tanh(x, 1)":                 `character 1: tanh has the wrong number of arguments; write tanh(a)`,
		"x + where(x, 1)":            `character 5: where has the wrong number of arguments; write where(condition, a, b)`,
		"1.2.3*x":                    `character 1: "1.2.3" is not a finite number`,
		"1e999*x":                    `character 1: "1e999" is not a finite number`,
		"3":                          "the formula does not depend on x",
		"x - x":                      "the formula does not depend on x",
		"x/0":                        "a part of the formula is not a finite number, as in 1/0",
		"log(-1)*x":                  "a part of the formula is not a finite number",
		"x; a = 1":                   "",
		"x; a = learned 1":           "the parameter a does not occur in the formula, or has no effect",
		"x + 0*a; a = learned 1":     "the parameter a does not occur in the formula, or has no effect",
		"(x > a) + x; a = learned 1": "the parameter a cannot be learned: the formula does not change smoothly with it",
		"a*x; a = 1; a = 2":          "the parameter a is given twice",
		"x*e; e = 1":                 "a parameter is called e, which already has a meaning",
		"x*sin; sin = 1":             "a parameter is called sin, which already has a meaning",
		"a*x; a = NaN":               `parameter "a = NaN": expected name = 0.5`,
		"a*x; a":                     `parameter "a": expected name = 0.5`,
		"a*x; a = per 1":             `parameter "a = per 1": expected`,
		"a*x; a = per unit 1":        "the parameter a is fixed and has one value for all units; list one value for each unit, or make it learned",
		"a*x; a = []":                `parameter "a = []": expected`,
		"a*x; a = [1, 2":             `parameter "a = [1, 2": expected`,
		strings.Repeat("(", 70) + "x" + strings.Repeat(")", 70): "the formula is nested more than 64 deep",
		strings.Repeat("-", 70) + "x":                           "the formula is nested more than 64 deep",
		strings.Repeat("x+", 2500) + "x":                        "the formula has 5001 characters; at most 4096 are allowed",
	} {
		_, err := ParseText(text)
		switch {
		case want == "" && err != nil:
			t.Errorf("%.40q: %v", text, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%.40q: %v; want %s", text, err, want)
		}
	}
	if _, err := Parse("x", Param{Name: "a b"}); err == nil || !strings.Contains(err.Error(), "cannot be the name of a parameter") {
		t.Error(err)
	}
	if _, err := Parse("a*x", Param{Name: "a", Value: math.Inf(1)}); err == nil || !strings.Contains(err.Error(), "it must be a finite number") {
		t.Error(err)
	}
}

// Hostile texts end quickly, in an error or a formula.
func TestBoundedCost(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("x*", 2000) + "x",
		strings.Repeat("sin(x)*cos(x)/", 300) + "x",
		strings.Repeat("abs(sin(x*", 20) + "x" + strings.Repeat("))", 20),
		strings.Repeat("sin(tanh(x*", 21) + "x" + strings.Repeat("))", 21),
		"abs(sin(1000*x))+abs(sin(1001*x))+abs(cos(999*x))+abs(cos(x^3))",
		"((((x^1000)^1000)^1000)^1000)^1000",
		strings.Repeat("max(x,", 60) + "x" + strings.Repeat(")", 60),
		strings.Repeat("where(x>1,x*x,", 60) + "x" + strings.Repeat(")", 60),
		strings.Repeat("abs(x-", 60) + "x^2" + strings.Repeat(")", 60),
		"1" + strings.Repeat("+abs(x*x-0.1)*sin(x)", 190),
		strings.Repeat("a*x+", 800) + "x; a = learned 1",
		"x*a*b*c*d*f*g*h*i*j*k; a = learned 1; b = learned 1; c = learned 1; d = learned 1; f = learned 1; g = learned 1; h = learned 1; i = learned 1; j = learned 1; k = learned 1",
	} {
		begin := time.Now()
		_, err := ParseText(text)
		d := time.Since(begin)
		t.Logf("%.30s… %v: %v", text, d, err)
		if d > time.Minute { // a hang, on whatever machine
			t.Errorf("%.60q took %v", text, d)
		}
	}
}
