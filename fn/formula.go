package fn

import (
	"utvi/internal/compute/bytecode"
	"utvi/internal/compute/kernel"
	"utvi/internal/expr"
	"utvi/moment"
)

// Formula returns the function that a text describes, such as "x / (1 + x^2)". Names
// other than x are parameters; see Fixed, Learned and LearnedPerUnit. Package expr
// describes the grammar. If the formula equals a function of this package, such as
// x*sigmoid(x), the result is that function, with its kernel and its closed form.
//
//	f, err := fn.Formula("a*tanh(b*x)", fn.Fixed("a", 1.7), fn.Learned("b", 0.5))
func Formula(text string, params ...Param) (*moment.Func, error) {
	f, err := expr.Parse(text, params...)
	if err != nil {
		return nil, err
	}
	return ofFormula(f), nil
}

// MustFormula is Formula for a text that is known to be valid; it panics if the text
// is not.
func MustFormula(text string, params ...Param) *moment.Func {
	f, err := Formula(text, params...)
	if err != nil {
		panic("fn: " + err.Error())
	}
	return f
}

// A Param is a parameter of a formula.
type Param = expr.Param

// Fixed returns a parameter that training does not change: one number for all units of
// a layer, or one for each unit.
func Fixed(name string, values ...float64) Param {
	if len(values) == 1 {
		return Param{Name: name, Value: values[0]}
	}
	return Param{Name: name, Values: append([]float64{}, values...)}
}

// Learned returns a parameter that training learns, starting from a value. All units
// of a layer share it.
func Learned(name string, start float64) Param {
	return Param{Name: name, Value: start, Learned: true}
}

// LearnedPerUnit returns a parameter that training learns for each unit of a layer
// separately. All units start from the same value.
func LearnedPerUnit(name string, start float64) Param {
	return Param{Name: name, Value: start, Learned: true, PerUnit: true}
}

// ofFormula returns the function of this package that a formula equals, or a new
// function.
func ofFormula(g *expr.Formula) *moment.Func {
	if op, a, ok := g.Named(); ok {
		return withKernel(op, a)
	}
	start := make([]float64, len(g.Inputs))
	for i, p := range g.Inputs {
		start[i] = p.Start(0)
	}
	at := func(p *bytecode.Program, out int) func(x float64) float64 {
		return func(x float64) float64 {
			var y [2]float64
			p.At(x, start, y[:])
			return y[out]
		}
	}
	return &moment.Func{
		Name:    g.String(),
		F:       at(g.Value, 0),
		DF:      at(g.Pair, 1),
		D2F:     at(g.Bend, 0),
		Kinks:   g.Kinks,
		Formula: g,
	}
}

// withKernel returns the function of this package that has a kernel.
func withKernel(op kernel.Op, a float64) *moment.Func {
	switch {
	case op == kernel.OpELU:
		return ELU(a)
	case op == kernel.OpLeakyReLU && a == 0:
		return ReLU()
	case op == kernel.OpLeakyReLU && a == -1:
		return Abs()
	case op == kernel.OpLeakyReLU:
		return LeakyReLU(a)
	}
	for _, make := range plain {
		if f := make(); f.Op == op {
			return f
		}
	}
	panic("fn: this kernel has no named function")
}
