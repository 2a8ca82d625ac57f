package fn

import "utvi/moment"

// formulas are the functions that are defined by a formula.
var formulas = map[string]string{
	"hard-sigmoid": "clip(x/6 + 0.5, 0, 1)",
	"hard-swish":   "x*clip(x/6 + 0.5, 0, 1)",
	"hard-tanh":    "clip(x, -1, 1)",
	"log-sigmoid":  "log(sigmoid(x))",
	"mish":         "x*tanh(softplus(x))",
	"relu6":        "clip(x, 0, 6)",
	"selu":         "1.0507009873554805*elu(x, 1.6732632423543772)",
	"softsign":     "x/(1 + abs(x))",
	"symlog":       "sign(x)*log1p(abs(x))",
}

// named is a formula under a name.
func named(name string) (*moment.Func, bool) {
	text, ok := formulas[name]
	if !ok {
		return nil, false
	}
	f := MustFormula(text)
	f.Name = name
	return f, true
}
