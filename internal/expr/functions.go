package expr

import (
	"maps"
	"slices"
)

// A function is the meaning of a name before parentheses.
type function struct {
	least, most int // arguments
	usage       string
	make        func(b *builder, a []*Expr) *Expr
}

// unary is a function that is a node.
func unary(op Op) function {
	return function{1, 1, "", func(b *builder, a []*Expr) *Expr { return b.fn(op, a[0]) }}
}

// functions lists the functions by name, those that are put together from others
// in a form that holds in their tails.
var functions = map[string]function{
	"exp": unary(Exp), "expm1": unary(Expm1), "log": unary(Log), "log1p": unary(Log1p), "sqrt": unary(Sqrt),
	"sin": unary(Sin), "cos": unary(Cos), "atan": unary(Atan), "tanh": unary(Tanh),
	"sigmoid": unary(Sigmoid), "softplus": unary(Softplus), "erf": unary(Erf),
	"normal_cdf": unary(NormalCDF), "normal_pdf": unary(NormalPDF), "normal_inverse": unary(NormalInverse),
	"abs": unary(Abs), "sign": unary(Sign),
	"identity": {1, 1, "", func(b *builder, a []*Expr) *Expr { return a[0] }},
	"square":   {1, 1, "", func(b *builder, a []*Expr) *Expr { return b.mul(a[0], a[0]) }},
	"silu":     {1, 1, "", func(b *builder, a []*Expr) *Expr { return b.mul(a[0], b.fn(Sigmoid, a[0])) }},
	"gelu":     {1, 1, "", func(b *builder, a []*Expr) *Expr { return b.mul(a[0], b.fn(NormalCDF, a[0])) }},
	"relu":     {1, 1, "", func(b *builder, a []*Expr) *Expr { return b.extreme(Max, a[0], b.num(0)) }},
	"erfc": {1, 1, "", func(b *builder, a []*Expr) *Expr {
		return b.sub(b.num(1), b.fn(Erf, a[0]))
	}},
	"leaky_relu": {1, 2, "leaky_relu(a, slope)", func(b *builder, a []*Expr) *Expr {
		return b.where(b.compare(Less, b.num(0), a[0]), a[0], b.mul(b.second(a, 0.01), a[0]))
	}},
	"elu": {1, 2, "elu(a, alpha)", func(b *builder, a []*Expr) *Expr {
		return b.where(b.compare(Less, b.num(0), a[0]), a[0], b.mul(b.second(a, 1), b.fn(Expm1, a[0])))
	}},
	"tan": {1, 1, "", func(b *builder, a []*Expr) *Expr { return b.div(b.fn(Sin, a[0]), b.fn(Cos, a[0])) }},
	"sinh": {1, 1, "", func(b *builder, a []*Expr) *Expr {
		return b.mul(b.num(0.5), b.sub(b.fn(Expm1, a[0]), b.fn(Expm1, b.neg(a[0]))))
	}},
	"cosh": {1, 1, "", func(b *builder, a []*Expr) *Expr {
		return b.mul(b.num(0.5), b.add(b.fn(Exp, a[0]), b.fn(Exp, b.neg(a[0]))))
	}},
	"asinh": {1, 1, "", func(b *builder, a []*Expr) *Expr { // ±ln(1 + t + t²/(1+√(1+t²))), t = |a|
		t := b.fn(Abs, a[0])
		square := b.mul(t, t)
		root := b.fn(Sqrt, b.add(b.num(1), square))
		return b.mul(b.fn(Sign, a[0]), b.fn(Log1p, b.add(t, b.div(square, b.add(b.num(1), root)))))
	}},
	"min":  {2, 16, "min(a, b)", func(b *builder, a []*Expr) *Expr { return b.fold(Min, a) }},
	"max":  {2, 16, "max(a, b)", func(b *builder, a []*Expr) *Expr { return b.fold(Max, a) }},
	"pow":  {2, 2, "pow(a, b)", func(b *builder, a []*Expr) *Expr { return b.pow(a[0], a[1]) }},
	"clip": {3, 3, "clip(a, low, high)", func(b *builder, a []*Expr) *Expr { return b.extreme(Min, b.extreme(Max, a[0], a[1]), a[2]) }},
	"where": {3, 3, "where(condition, a, b)", func(b *builder, a []*Expr) *Expr {
		return b.where(a[0], a[1], a[2])
	}},
}

// second returns the second argument, or a number if there is none.
func (b *builder) second(a []*Expr, standard float64) *Expr {
	if len(a) > 1 {
		return a[1]
	}
	return b.num(standard)
}

func (b *builder) fold(op Op, a []*Expr) *Expr {
	e := a[0]
	for _, u := range a[1:] {
		e = b.extreme(op, e, u)
	}
	return e
}

// functionNames returns the names of the functions a formula may call, sorted.
func functionNames() []string { return slices.Sorted(maps.Keys(functions)) }
