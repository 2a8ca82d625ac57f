package fn

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"utvi/moment"
)

// plain lists the functions without a parameter, parametrised those with one
// and the value it takes when the name carries none.
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

// Named returns the function of that name, such as "tanh", "leaky-relu" (slope
// 0.01), "leaky-relu(0.2)" or "elu(1)". It accepts every Name this package
// gives, so that a saved model finds its functions again.
func Named(name string) (*moment.Func, error) {
	if f, ok := plain[name]; ok {
		return f(), nil
	}
	base, arg, hasArg := strings.Cut(name, "(")
	p, ok := parametrised[base]
	if err := coupled(name); err != nil {
		return nil, err
	}
	if !ok {
		return nil, fmt.Errorf("fn: no function %q; there are %s", name, strings.Join(Names(), ", "))
	}
	if !hasArg {
		return p.make(p.standard), nil
	}
	a, err := strconv.ParseFloat(strings.TrimSuffix(arg, ")"), 64)
	if err != nil || !strings.HasSuffix(arg, ")") || math.IsNaN(a) || math.IsInf(a, 0) {
		return nil, fmt.Errorf("fn: %q: want a finite number in parentheses, as in %q", name, withParameter(base, p.standard))
	}
	return p.make(a), nil
}

// Names returns what Named knows, sorted; parametrised functions without their
// parameter.
func Names() []string {
	return slices.Sorted(func(yield func(string) bool) {
		for n := range plain {
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

// withParameter writes a name that Named reads back to the same bits.
func withParameter(base string, a float64) string {
	return base + "(" + strconv.FormatFloat(a, 'g', -1, 64) + ")"
}
