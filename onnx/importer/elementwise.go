package importer

import (
	"fmt"
	"strings"

	"utvi/expr"
)

// functions are the elementwise operators of one input, as formulas: $x is the input, and
// $name an attribute.
var functions = map[string]struct {
	text     string
	standard map[string]float64
}{
	"Relu": {"relu($x)", nil}, "Sigmoid": {"sigmoid($x)", nil}, "Tanh": {"tanh($x)", nil}, "Softplus": {"softplus($x)", nil},
	"Softsign": {"($x/(1+abs($x)))", nil}, "Erf": {"erf($x)", nil}, "Exp": {"exp($x)", nil}, "Log": {"log($x)", nil},
	"Sqrt": {"sqrt($x)", nil}, "Abs": {"abs($x)", nil}, "Neg": {"(-$x)", nil}, "Reciprocal": {"(1/$x)", nil}, "Sign": {"sign($x)", nil},
	"Sin": {"sin($x)", nil}, "Cos": {"cos($x)", nil}, "Tan": {"tan($x)", nil}, "Atan": {"atan($x)", nil},
	"Sinh": {"sinh($x)", nil}, "Cosh": {"cosh($x)", nil}, "Asinh": {"asinh($x)", nil}, "Atanh": {"(0.5*(log1p($x) - log1p(-$x)))", nil},
	"Mish": {"($x*tanh(softplus($x)))", nil}, "HardSwish": {"($x*clip($x/6 + 0.5, 0, 1))", nil},
	"LeakyRelu":       {"leaky_relu($x, $alpha)", map[string]float64{"alpha": 0.01}},
	"Elu":             {"elu($x, $alpha)", map[string]float64{"alpha": 1}},
	"Celu":            {"(elu($x/$alpha, 1)*$alpha)", map[string]float64{"alpha": 1}},
	"Selu":            {"($gamma*elu($x, $alpha))", map[string]float64{"alpha": 1.67326319217681884765625, "gamma": 1.05070102214813232421875}},
	"HardSigmoid":     {"clip($alpha*$x + $beta, 0, 1)", map[string]float64{"alpha": 0.2, "beta": 0.5}},
	"ThresholdedRelu": {"where($x > $alpha, $x, 0)", map[string]float64{"alpha": 1}},
	"Gelu":            {"gelu($x)", nil}, "Swish": {"($x*sigmoid($alpha*$x))", map[string]float64{"alpha": 1}},
}

// binaries are the elementwise operators of two inputs.
var binaries = map[string]string{
	"Add": "($x + $y)", "Sub": "($x - $y)", "Mul": "($x*$y)", "Div": "($x/$y)", "Min": "min($x, $y)", "Max": "max($x, $y)",
	"Less": "($x < $y)", "LessOrEqual": "($x <= $y)", "Greater": "($x > $y)", "GreaterOrEqual": "($x >= $y)", "Equal": "($x == $y)",
	"And": "($x*$y)", "Or": "max($x, $y)",
}

// elementwise makes an elementwise operator text. ok is false if the operator is none.
func (c *call) elementwise() (out *value, ok bool, err error) {
	if out, ok := c.logOfSoftmax(); ok {
		return out, true, nil
	}
	if f, found := functions[c.op]; found {
		out, err = c.function(f.text, f.standard)
		return out, true, err
	}
	switch c.op {
	case "Not":
		out, err = c.truth(c.function("(1 - $x)", nil))
	case "Clip":
		out, err = c.clip()
	case "PRelu":
		out, err = c.two("where($x > 0, $x, $x*$y)")
	case "Pow":
		out, err = c.power()
	case "Where":
		out, err = c.where()
	case "Add":
		out, err = c.add()
	case "Mul":
		out, err = c.mul()
	case "Min", "Max":
		out, err = c.fold2(binaries[c.op])
	default:
		text, found := binaries[c.op]
		if !found {
			return nil, false, nil
		}
		out, err = c.two(text)
		if c.op != "Sub" && c.op != "Div" {
			out, err = c.truth(out, err)
		}
	}
	return out, true, err
}

// truth marks the result of a comparison or of an operator of logic.
func (c *call) truth(v *value, err error) (*value, error) {
	if err == nil {
		v.truth = true
	}
	return v, err
}

func (c *call) function(text string, standard map[string]float64) (*value, error) {
	if len(c.in) == 0 || c.in[0] == nil || c.in[0].constant != nil {
		return nil, fmt.Errorf("its input must depend on the input of the graph")
	}
	if c.op == "Gelu" && c.text("approximate", "none") == "tanh" {
		text = "(0.5*$x*(1 + tanh(0.7978845608028654*($x + 0.044715*$x^3))))"
	}
	for name, v := range standard {
		text = strings.ReplaceAll(text, "$"+name, decimal(c.float(name, v)))
	}
	return c.in[0].of(func(x string) string { return strings.ReplaceAll(text, "$x", x) })
}

// operand is an input as text: a number, a parameter of the units, or a function of the
// base of v.
func (c *call) operand(v, w *value) (string, []expr.Param, error) {
	k := w.constant
	if k == nil {
		return "", nil, nil
	}
	if k.scalar() {
		return decimal(k.data[0]), nil, nil
	}
	values, err := v.perUnit(k)
	if err != nil {
		return "", nil, err
	}
	// Functions of one base may meet again in one formula, so no two have a parameter of the
	// same name.
	b := v.origin()
	b.named++
	name := fmt.Sprintf("p%d", b.named)
	return name, []expr.Param{{Name: name, Values: values}}, nil
}

// perUnit is a constant as one number a unit, in the order of the network.
func (v *value) perUnit(k *constant) ([]float64, error) {
	b := v.origin()
	dims := k.dims
	for len(dims) > len(b.dims) && dims[0] == 1 {
		dims = dims[1:]
	}
	wrong := fmt.Errorf("a constant of the size %v does not fit rows of the size %v", k.dims, b.dims)
	if len(dims) > len(b.dims) {
		return nil, wrong
	}
	full := append(repeated(1, len(b.dims)-len(dims)), dims...)
	for i, d := range full {
		if d != 1 && d != b.dims[i] {
			return nil, wrong
		}
	}
	values := make([]float64, size(b.dims))
	at := make([]int, len(b.dims))
	for i := range values {
		from := 0
		for j, d := range full {
			from *= d
			if d > 1 {
				from += at[j]
			}
		}
		values[i] = k.data[from]
		for j := len(at) - 1; j >= 0; j-- {
			if at[j]++; at[j] < b.dims[j] {
				break
			}
			at[j] = 0
		}
	}
	if b.flatRow() {
		return b.here(values, 1), nil
	}
	return b.flat().here(values, 1), nil
}

func repeated(x, n int) []int {
	v := make([]int, n)
	for i := range v {
		v[i] = x
	}
	return v
}

// two is an operator of two inputs, of which one may be a constant.
func (c *call) two(text string) (*value, error) {
	if len(c.in) != 2 || c.in[0] == nil || c.in[1] == nil {
		return nil, fmt.Errorf("it needs two inputs")
	}
	return c.join(text, c.in[0], c.in[1])
}

func (c *call) join(text string, v, w *value) (*value, error) {
	fill := func(x, y string) string { return strings.NewReplacer("$x", x, "$y", y).Replace(text) }
	switch {
	case v.constant != nil && w.constant != nil:
		return nil, fmt.Errorf("it computes constants, which is not taken here")
	case v.constant == nil && w.constant == nil:
		return v.both(w, fill)
	case v.constant != nil:
		y, params, err := c.operand(w, v)
		if err != nil {
			return nil, err
		}
		out, err := w.of(func(x string) string { return fill(y, x) })
		return out.with(params), err
	}
	y, params, err := c.operand(v, w)
	if err != nil {
		return nil, err
	}
	out, err := v.of(func(x string) string { return fill(x, y) })
	return out.with(params), err
}

func (v *value) with(params []expr.Param) *value {
	if v != nil && len(params) > 0 {
		v.params = append(v.params[:len(v.params):len(v.params)], params...)
	}
	return v
}

// fold2 applies an operator of two to any number of inputs.
func (c *call) fold2(text string) (*value, error) {
	if len(c.in) == 0 {
		return nil, fmt.Errorf("it has no input")
	}
	v := c.in[0]
	for _, w := range c.in[1:] {
		var err error
		if v == nil || w == nil {
			return nil, fmt.Errorf("an input is left out")
		}
		v, err = c.join(text, v, w)
		if err != nil {
			return nil, err
		}
	}
	return v, nil
}

func (c *call) clip() (*value, error) {
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

func (c *call) power() (*value, error) {
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

func (c *call) where() (*value, error) {
	if len(c.in) != 3 || c.in[0] == nil || c.in[1] == nil || c.in[2] == nil || c.in[0].constant != nil {
		return nil, fmt.Errorf("its condition must depend on the input of the graph")
	}
	// A condition and a value first, then the other value.
	v, err := c.join("$x, $y", c.in[0], c.in[1])
	if err != nil {
		return nil, err
	}
	return c.join("where($x, $y)", v, c.in[2])
}

// mul is a gain of a layer normalisation, or a product.
func (c *call) mul() (*value, error) {
	if len(c.in) == 2 && c.in[0] != nil && c.in[1] != nil {
		for _, p := range [][2]*value{{c.in[0], c.in[1]}, {c.in[1], c.in[0]}} {
			if p[0].constant == nil && p[1].constant != nil {
				if out, ok := p[0].withGain("Mul", p[1].constant); ok {
					return out, nil
				}
			}
		}
	}
	return c.two(binaries["Mul"])
}

// add is a bias, a number for each unit, a sum of functions, or a residual.
func (c *call) add() (*value, error) {
	if len(c.in) != 2 || c.in[0] == nil || c.in[1] == nil {
		return nil, fmt.Errorf("it needs two inputs")
	}
	v, w := c.in[0], c.in[1]
	if v.constant != nil {
		v, w = w, v
	}
	if v.constant == nil && w.constant != nil && len(w.constant.dims) > 0 {
		if out, ok := v.withBias(w.constant); ok {
			return out, nil
		}
		if out, ok := v.withGain("Add", w.constant); ok {
			return out, nil
		}
	}
	if v.constant == nil && w.constant == nil && v.origin() != w.origin() {
		return residual(v, w)
	}
	return c.two(binaries["Add"])
}
