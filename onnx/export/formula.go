package export

import (
	"fmt"
	"math"

	"utvi/internal/expr"
	"utvi/moment"
)

// A function is an elementwise function as expressions.
type function struct {
	o       ops
	of      *moment.Func
	formula *expr.Formula
	params  map[string]value // by name
}

// function returns the function of a layer whose parameters have the given values.
func (o ops) function(f *moment.Func, params map[string]value) (*function, error) {
	formula := f.Expr()
	if formula == nil {
		return nil, fmt.Errorf("the function %s is Go code, which a graph cannot hold; write it as a formula (fn.Formula)", title(f.Name))
	}
	return &function{o, f, formula, params}, nil
}

func title(name string) string {
	if name == "" {
		return "without a name"
	}
	return name
}

// at, slope and curvature are f, f′ and f″ at x.
func (f *function) at(x value) value        { return f.eval(f.formula.Expr, x) }
func (f *function) slope(x value) value     { return f.like(f.formula.Slope, x) }
func (f *function) curvature(x value) value { return f.like(f.formula.Curvature, x) }

// like is an expression that may be a number; the value has the shape of x.
func (f *function) like(e *expr.Expr, x value) value {
	v := f.eval(e, x)
	if varies(e) {
		return v
	}
	return f.o.add(f.o.zeros(x), v)
}

// varies reports whether an expression has the shape of x.
func varies(e *expr.Expr) (yes bool) {
	e.Walk(func(e *expr.Expr) { yes = yes || e.Op() == expr.X })
	return yes
}

// eval is an expression at x. Parts that are shared are computed once, because the
// builder knows the nodes it has.
func (f *function) eval(e *expr.Expr, x value) value {
	known := map[*expr.Expr]value{}
	e.Walk(func(e *expr.Expr) {
		known[e] = f.node(e, x, known)
	})
	return known[e]
}

// node is one node of an expression, whose arguments are known.
func (f *function) node(e *expr.Expr, x value, known map[*expr.Expr]value) value {
	switch e.Op() {
	case expr.Num:
		return f.o.Float(e.Value())
	case expr.X:
		return x
	case expr.Parameter:
		return f.params[e.Name()]
	}
	args := make([]value, len(e.Args()))
	for i, arg := range e.Args() {
		args[i] = known[arg]
	}
	if e.Op() == expr.Where {
		return f.o.where(f.truth(e.Args()[0], known), args[1], args[2])
	}
	if op, ok := single[e.Op()]; ok {
		return f.o.Op(op, args)
	}
	if op, ok := comparisons[e.Op()]; ok {
		return f.o.cast(f.o.Op(op, args))
	}
	if write, ok := composed[e.Op()]; ok {
		return write(f.o, args)
	}
	panic("export: an operation of formulas that is not known here")
}

// truth is an expression as a condition: a comparison itself, or whether a number is not 0.
func (f *function) truth(e *expr.Expr, known map[*expr.Expr]value) value {
	if op, ok := comparisons[e.Op()]; ok {
		return f.o.Op(op, []value{known[e.Args()[0]], known[e.Args()[1]]})
	}
	return f.o.unary("Not", f.o.Op("Equal", []value{known[e], f.o.Float(0)}))
}

// single are the operations of formulas that are one operator. A new operation is a line in one of
// these three tables.
var single = map[expr.Op]string{
	expr.Neg: "Neg", expr.Abs: "Abs", expr.Sign: "Sign", expr.Sqrt: "Sqrt", expr.Log: "Log", expr.Exp: "Exp",
	expr.Sin: "Sin", expr.Cos: "Cos", expr.Atan: "Atan", expr.Tanh: "Tanh", expr.Erf: "Erf",
	expr.Add: "Add", expr.Sub: "Sub", expr.Mul: "Mul", expr.Div: "Div", expr.Pow: "Pow", expr.Min: "Min", expr.Max: "Max",
}

// comparisons are one operator that yields truth.
var comparisons = map[expr.Op]string{expr.Less: "Less", expr.AtMost: "LessOrEqual", expr.Equal: "Equal"}

// composed are the operations that several operators compute.
var composed = map[expr.Op]func(o ops, a []value) value{
	expr.NotEqual: func(o ops, a []value) value {
		return o.cast(o.Op("Or", []value{o.less(a[0], a[1]), o.less(a[1], a[0])}))
	},
	expr.Log1p:              func(o ops, a []value) value { return o.log1p(a[0]) },
	expr.Expm1:              func(o ops, a []value) value { return o.expm1(a[0]) },
	expr.TanhSlope:          func(o ops, a []value) value { return o.times(o.sigmoidSlope(o.times(a[0], 2)), 4) },
	expr.Sigmoid:            func(o ops, a []value) value { return o.sigmoid(a[0]) },
	expr.SigmoidSlope:       func(o ops, a []value) value { return o.sigmoidSlope(a[0]) },
	expr.Softplus:           func(o ops, a []value) value { return o.softplus(a[0]) },
	expr.ErfSlope:           func(o ops, a []value) value { return o.times(o.exp(o.neg(o.square(a[0]))), 2/math.SqrtPi) },
	expr.NormalCDF:          func(o ops, a []value) value { return o.cdf(a[0]) },
	expr.NormalPDF:          func(o ops, a []value) value { return o.density(a[0]) },
	expr.NormalInverse:      func(o ops, a []value) value { return o.normalInverse(a[0]) },
	expr.NormalInverseSlope: func(o ops, a []value) value { return o.normalInverseSlope(a[0]) },
	expr.NormalInverseBend:  func(o ops, a []value) value { return o.normalInverseBend(a[0]) },
}
