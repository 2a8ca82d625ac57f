package importer

import (
	"fmt"
	"slices"
	"strings"

	"utvi/internal/expr"
)

// functions are the elementwise operators of one input, as formulas: $x is the input, and
// $name an attribute.
var functions = map[string]struct {
	text     string
	standard map[string]float64
}{
	"Abs":             {"abs($x)", nil},
	"Asinh":           {"asinh($x)", nil},
	"Atan":            {"atan($x)", nil},
	"Atanh":           {"(0.5*(log1p($x) - log1p(-$x)))", nil},
	"Celu":            {"(elu($x/$alpha, 1)*$alpha)", map[string]float64{"alpha": 1}},
	"Cos":             {"cos($x)", nil},
	"Cosh":            {"cosh($x)", nil},
	"Elu":             {"elu($x, $alpha)", map[string]float64{"alpha": 1}},
	"Erf":             {"erf($x)", nil},
	"HardSigmoid":     {"clip($alpha*$x + $beta, 0, 1)", map[string]float64{"alpha": 0.2, "beta": 0.5}},
	"HardSwish":       {"($x*clip($x/6 + 0.5, 0, 1))", nil},
	"LeakyRelu":       {"leaky_relu($x, $alpha)", map[string]float64{"alpha": 0.01}},
	"Mish":            {"($x*tanh(softplus($x)))", nil},
	"Relu":            {"relu($x)", nil},
	"Selu":            {"($gamma*elu($x, $alpha))", map[string]float64{"alpha": 1.67326319217681884765625, "gamma": 1.05070102214813232421875}},
	"Sigmoid":         {"sigmoid($x)", nil},
	"Sign":            {"sign($x)", nil},
	"Sin":             {"sin($x)", nil},
	"Sinh":            {"sinh($x)", nil},
	"Softplus":        {"softplus($x)", nil},
	"Softsign":        {"($x/(1+abs($x)))", nil},
	"Swish":           {"($x*sigmoid($alpha*$x))", map[string]float64{"alpha": 1}},
	"Tan":             {"tan($x)", nil},
	"Tanh":            {"tanh($x)", nil},
	"ThresholdedRelu": {"where($x > $alpha, $x, 0)", map[string]float64{"alpha": 1}},
}

// comparisons, and what is computed with their results, are 0 or 1.
var comparisons = map[string]string{
	"Less": "($x < $y)", "LessOrEqual": "($x <= $y)", "Greater": "($x > $y)", "GreaterOrEqual": "($x >= $y)", "Equal": "($x == $y)",
	"And": "($x*$y)", "Or": "max($x, $y)",
}

// choices are operators of any number of inputs, two at a time.
var choices = map[string]string{"Min": "min($x, $y)", "Max": "max($x, $y)"}

// function is an operator of one input.
func function(text string, standard map[string]float64) func(*call) (*value, error) {
	return func(c *call) (*value, error) {
		if !c.depends(0) {
			return nil, fmt.Errorf("its input must depend on the input of the graph")
		}
		text := text
		for name, v := range standard {
			text = strings.ReplaceAll(text, "$"+name, decimal(c.float(name, v)))
		}
		return c.in[0].of(func(x string) string { return strings.ReplaceAll(text, "$x", x) })
	}
}

// binary is an operator of two inputs, of which one may be a constant.
func binary(text string) func(*call) (*value, error) {
	return func(c *call) (*value, error) {
		if len(c.in) != 2 || c.in[0] == nil || c.in[1] == nil {
			return nil, fmt.Errorf("it needs two inputs")
		}
		return c.join(text, c.in[0], c.in[1])
	}
}

// truth marks the result of a comparison or of an operator of logic.
func truth(f func(*call) (*value, error)) func(*call) (*value, error) {
	return func(c *call) (*value, error) {
		v, err := f(c)
		if err == nil {
			v.truth = true
		}
		return v, err
	}
}

// gelu is exact, or by a hyperbolic tangent.
func gelu(c *call) (*value, error) {
	if c.text("approximate", "none") == "tanh" {
		return function("(0.5*$x*(1 + tanh(0.7978845608028654*($x + 0.044715*$x^3))))", nil)(c)
	}
	return function("gelu($x)", nil)(c)
}

// logarithm may be that of a softmax that is spelt out.
func logarithm(c *call) (*value, error) {
	if out, ok := c.logOfSoftmax(); ok {
		return out, nil
	}
	return function("log($x)", nil)(c)
}

// operand is a constant as text: a number, or a parameter of the units of v.
func (c *call) operand(v *value, k *constant) (string, []expr.Param, error) {
	if k.scalar() {
		return decimal(k.data[0]), nil, nil
	}
	values, err := v.perUnit(k)
	if err != nil {
		return "", nil, err
	}
	// Functions of one layer may meet again in one formula, so no two have a parameter of the
	// same name.
	v.layer.named++
	name := fmt.Sprintf("p%d", v.layer.named)
	return name, []expr.Param{{Name: name, Values: values}}, nil
}

// perUnit is a constant as one number a unit of the layer that v is a function of.
func (v *value) perUnit(k *constant) ([]float64, error) {
	dims := v.at.dims()
	own := k.dims
	for len(own) > len(dims) && own[0] == 1 {
		own = own[1:]
	}
	wrong := fmt.Errorf("a constant of the size %v does not fit the dimensions %v", k.dims, v.named())
	if len(own) > len(dims) {
		return nil, wrong
	}
	full := append(repeated(1, len(dims)-len(own)), own...)
	for i, d := range full {
		switch {
		case d != 1 && (d != dims[i] || v.at[i].hasRows()):
			return nil, wrong
		case v.at[i].hasRows():
			dims[i] /= batch // what is in one dimension with the rows
		}
	}
	units := v.at.units()
	return spread(k, full, dims, units, v.layer.shape.Size(), 0), nil
}

// spread puts the numbers of a constant, of the dimensions full, to units of so many; those of a
// dimension of 1 are the same along all of dims.
func spread(k *constant, full, dims, units []int, size, first int) []float64 {
	values := make([]float64, size)
	at := make([]int, len(dims))
	for i := range units {
		from := 0
		for j, d := range full {
			from *= d
			if d > 1 {
				from += at[j]
			}
		}
		values[first+units[i]] = k.data[from]
		for j := len(at) - 1; j >= 0; j-- {
			if at[j]++; at[j] < dims[j] {
				break
			}
			at[j] = 0
		}
	}
	return values
}

func repeated(x, n int) []int {
	v := make([]int, n)
	for i := range v {
		v[i] = x
	}
	return v
}

// join is an operator of two values, of which one may be a constant.
func (c *call) join(text string, v, w *value) (*value, error) {
	fill := func(x, y string) string { return strings.NewReplacer("$x", x, "$y", y).Replace(text) }
	switch {
	case v.constant != nil && w.constant != nil:
		return nil, fmt.Errorf("it computes constants, which is not taken here")
	case v.constant != nil:
		return c.withConstant(w, v.constant, func(x, k string) string { return fill(k, x) })
	case w.constant != nil:
		return c.withConstant(v, w.constant, fill)
	case v.alike(w):
		return v.both(w, fill)
	}
	return c.meet(text, v, w)
}

// withConstant is a function of v and a constant.
func (c *call) withConstant(v *value, k *constant, text func(x, k string) string) (*value, error) {
	if v.stat != nil {
		var err error
		v, err = v.settle()
		if err != nil {
			return nil, err
		}
	}
	y, params, err := c.operand(v, k)
	if err != nil {
		return nil, err
	}
	out, err := v.of(func(x string) string { return text(x, y) })
	return out.with(params), err
}

func (v *value) with(params []expr.Param) *value {
	if v != nil && len(params) > 0 {
		v.params = append(v.params[:len(v.params):len(v.params)], params...)
	}
	return v
}

// several applies an operator of two to any number of inputs.
func several(text string) func(*call) (*value, error) {
	return func(c *call) (*value, error) { return c.joinAll(text) }
}

func (c *call) joinAll(text string) (*value, error) {
	if len(c.in) == 0 {
		return nil, fmt.Errorf("it has no input")
	}
	if slices.Contains(c.in, nil) {
		return nil, fmt.Errorf("an input is left out")
	}
	v := c.in[0]
	for _, w := range c.in[1:] {
		var err error
		v, err = c.join(text, v, w)
		if err != nil {
			return nil, err
		}
	}
	return v, nil
}

// clip bounds its input below and above.
func clip(c *call) (*value, error) {
	if len(c.in) == 0 || c.in[0] == nil || c.in[0].constant != nil {
		return nil, fmt.Errorf("its input must depend on the input of the graph")
	}
	v := c.in[0]
	for i, f := range []string{"max", "min"} {
		var bound string
		k, err := c.weight(1 + i)
		name := []string{"min", "max"}[i]
		switch {
		case err != nil:
			return nil, err
		case k != nil && !k.scalar():
			return nil, fmt.Errorf("its bounds must be numbers")
		case k != nil:
			bound = decimal(k.data[0])
		case c.n.Attribute(name) != nil:
			bound = decimal(c.float(name, 0))
		default:
			continue
		}
		v, err = v.of(func(x string) string { return f + "(" + x + ", " + bound + ")" })
		if err != nil {
			return nil, err
		}
	}
	return v, nil
}

// power is one to a constant exponent.
func power(c *call) (*value, error) {
	k, err := c.weight(1)
	if err != nil || k == nil || !k.scalar() || c.in[0] == nil || c.in[0].constant != nil {
		return nil, fmt.Errorf("its exponent must be a number")
	}
	return c.in[0].of(func(x string) string {
		if p := k.data[0]; p == 2 {
			return "square(" + x + ")"
		}
		return "pow(" + x + ", " + decimal(k.data[0]) + ")"
	})
}

// mul is a gain of a layer normalisation, or a product.
func mul(c *call) (*value, error) {
	if len(c.in) == 2 && c.in[0] != nil && c.in[1] != nil {
		for _, p := range [][2]*value{{c.in[0], c.in[1]}, {c.in[1], c.in[0]}} {
			if p[0].constant == nil && p[1].constant != nil {
				if out, ok := p[0].withGain("Mul", p[1].constant); ok {
					return out, nil
				}
			}
		}
	}
	return binary("($x*$y)")(c)
}

// add is a bias, a number for each unit, a sum of functions, or a sum of two tensors.
func add(c *call) (*value, error) {
	if len(c.in) != 2 || c.in[0] == nil || c.in[1] == nil {
		return nil, fmt.Errorf("it needs two inputs")
	}
	v, w := c.in[0], c.in[1]
	if v.constant != nil {
		v, w = w, v
	}
	if v.constant == nil && w.constant != nil {
		w = &value{constant: w.constant.bounded()}
		if len(w.constant.dims) > 0 {
			if out, ok := v.withBias(w.constant); ok {
				return out, nil
			}
			if out, ok := v.withGain("Add", w.constant); ok {
				return out, nil
			}
		}
	}
	return c.join("($x + $y)", v, w)
}

// sum adds one tensor after the other.
func sum(c *call) (*value, error) {
	if len(c.in) == 0 || c.in[0] == nil {
		return nil, fmt.Errorf("it needs an input")
	}
	total := c.in[0]
	for _, in := range c.in[1:] {
		two := *c
		two.in = []*value{total, in}
		var err error
		total, err = add(&two)
		if err != nil {
			return nil, err
		}
	}
	return total, nil
}
