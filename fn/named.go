package fn

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"utvi/internal/call"
	"utvi/internal/compute"
	"utvi/internal/expr"
	"utvi/moment"
)

// plain lists the functions without a parameter. parametrised lists those with one,
// and its value if the name gives none.
var plain = map[string]func() *moment.Func{
	"identity":       Identity,
	"relu":           ReLU,
	"abs":            Abs,
	"gelu":           GELU,
	"silu":           SiLU,
	"softplus":       Softplus,
	"sigmoid":        Sigmoid,
	"tanh":           Tanh,
	"erf":            Erf,
	"normal-cdf":     NormalCDF,
	"exp":            Exp,
	"sin":            Sin,
	"cos":            Cos,
	"square":         Square,
	"normal-inverse": NormalInverse,
}

var parametrised = map[string]struct {
	make     func(a float64) *moment.Func
	standard float64
}{
	"leaky-relu": {LeakyReLU, 0.01},
	"elu":        {ELU, 1},
}

// Named returns the function with the given name, such as "tanh", "leaky-relu" (slope
// 0.01), "leaky-relu(0.2)" or "elu(1)", or the function of a formula with its
// parameters, such as "x / (1 + x^2)" or "a*tanh(b*x); a = 1; b = learned 0.5" (see
// Formula and expr.Param). It accepts every Name that this package gives, so model
// files can store functions by name.
func Named(name string) (*moment.Func, error) {
	if f, ok := plain[name]; ok {
		return f(), nil
	}
	if f, ok := named(name); ok {
		return f, nil
	}
	if err := coupled(name); err != nil {
		return nil, err
	}
	base, _, _ := strings.Cut(name, "(")
	p, ok := parametrised[base]
	switch {
	case !ok && isWord(name):
		return nil, fmt.Errorf("fn: unknown function %q; the functions are %s, and formulas of x such as \"x/(1+x^2)\"", name, strings.Join(Names(), ", "))
	case !ok:
		f, err := expr.ParseText(name)
		if err != nil {
			return nil, err
		}
		return ofFormula(f), nil
	}
	if name == base {
		return p.make(p.standard), nil
	}
	_, a, err := call.Parse(name)
	if err != nil || len(a) != 1 || !compute.Finite(a...) {
		return nil, fmt.Errorf("fn: %q needs a finite number in parentheses, as in %q", name, call.Format(base, p.standard))
	}
	return p.make(a[0]), nil
}

// isWord reports whether a text is meant as a name, not as a formula.
func isWord(s string) bool {
	if s == "x" {
		return false
	}
	for _, r := range s {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '_' {
			return false
		}
	}
	return !strings.HasPrefix(s, "-") && !strings.Contains(s, "x-") && !strings.Contains(s, "-x")
}

// Names returns the names that Named accepts, sorted. Functions with a parameter are
// listed without it.
func Names() []string {
	return slices.Sorted(func(yield func(string) bool) {
		for n := range plain {
			if !yield(n) {
				return
			}
		}
		for n := range formulas {
			if !yield(n) {
				return
			}
		}
		for n := range parametrised {
			if !yield(n) {
				return
			}
		}
	})
}
