package expr

import "math"

// diff differentiates with respect to v, which is x or a parameter.
func (b *builder) diff(e, v *Expr, known map[*Expr]*Expr) *Expr {
	if d, ok := known[e]; ok {
		return d
	}
	d := b.slope(e, v, func(u *Expr) *Expr { return b.diff(u, v, known) })
	known[e] = d
	return d
}

// by returns the derivatives of all es with respect to v.
func (b *builder) by(v *Expr, es ...*Expr) []*Expr {
	known := map[*Expr]*Expr{}
	var all []*Expr
	for _, e := range es {
		all = append(all, b.diff(e, v, known))
	}
	return all
}

func (b *builder) slope(e, v *Expr, of func(*Expr) *Expr) *Expr {
	if e == v {
		return b.num(1)
	}
	switch e.op {
	case Num, X, Parameter, Sign, Less, AtMost, Equal, NotEqual:
		return b.num(0)
	case Where:
		return b.where(e.args[0], of(e.args[1]), of(e.args[2]))
	}
	u := e.args[0]
	du := of(u)
	switch e.op {
	case Add:
		return b.add(du, of(e.args[1]))
	case Sub:
		return b.sub(du, of(e.args[1]))
	case Neg:
		return b.neg(du)
	case Mul:
		if u == e.args[1] {
			return b.mul(b.num(2), b.mul(u, du))
		}
		return b.add(b.mul(du, e.args[1]), b.mul(u, of(e.args[1])))
	case Div: // (u/w)′ = (u′ − (u/w)·w′)/w: the quotient is there already
		return b.div(b.sub(du, b.mul(e, of(e.args[1]))), e.args[1])
	case Pow:
		c := e.args[1].value
		return b.mul(b.mul(b.num(c), b.pow(u, b.num(c-1))), du)
	case Abs:
		return b.where(b.compare(Less, b.num(0), u), du, b.neg(du))
	case Max: // a tie takes the second, the number: left of it x is less
		return b.where(b.compare(Less, e.args[1], u), du, of(e.args[1]))
	case Min:
		return b.where(b.compare(AtMost, u, e.args[1]), du, of(e.args[1]))
	}
	if du.is(0) {
		return du
	}
	return b.mul(b.outer(e, u), du)
}

// outer is the slope of a function of one argument u.
func (b *builder) outer(e, u *Expr) *Expr {
	b.num(1) // before all others: the order in which nodes are made is that of sums, which bits depend on
	if slope, ok := slopes[e.op]; ok {
		return slope(b, e, u)
	}
	return b.num(math.NaN())
}

// slopes are those of the functions of one argument u; e is the function itself.
var slopes = map[Op]func(b *builder, e, u *Expr) *Expr{
	Sqrt:          func(b *builder, e, u *Expr) *Expr { return b.div(b.num(0.5), e) },
	Log:           func(b *builder, e, u *Expr) *Expr { return b.div(b.num(1), u) },
	Log1p:         func(b *builder, e, u *Expr) *Expr { return b.div(b.num(1), b.add(b.num(1), u)) },
	Exp:           func(b *builder, e, u *Expr) *Expr { return e },
	Expm1:         func(b *builder, e, u *Expr) *Expr { return b.fn(Exp, u) },
	Sin:           func(b *builder, e, u *Expr) *Expr { return b.fn(Cos, u) },
	Cos:           func(b *builder, e, u *Expr) *Expr { return b.neg(b.fn(Sin, u)) },
	Atan:          func(b *builder, e, u *Expr) *Expr { return b.div(b.num(1), b.add(b.num(1), b.mul(u, u))) },
	Tanh:          func(b *builder, e, u *Expr) *Expr { return b.fn(TanhSlope, u) },
	TanhSlope:     func(b *builder, e, u *Expr) *Expr { return b.mul(b.num(-2), b.mul(b.fn(Tanh, u), e)) },
	Sigmoid:       func(b *builder, e, u *Expr) *Expr { return b.fn(SigmoidSlope, u) },
	Softplus:      func(b *builder, e, u *Expr) *Expr { return b.fn(Sigmoid, u) },
	Erf:           func(b *builder, e, u *Expr) *Expr { return b.fn(ErfSlope, u) },
	ErfSlope:      func(b *builder, e, u *Expr) *Expr { return b.mul(b.num(-2), b.mul(u, e)) },
	NormalCDF:     func(b *builder, e, u *Expr) *Expr { return b.fn(NormalPDF, u) },
	NormalPDF:     func(b *builder, e, u *Expr) *Expr { return b.neg(b.mul(u, e)) },
	NormalInverse: func(b *builder, e, u *Expr) *Expr { return b.fn(NormalInverseSlope, u) },

	SigmoidSlope: func(b *builder, e, u *Expr) *Expr { // 1 − 2·sigmoid(u) = −tanh(u/2)
		return b.neg(b.mul(b.fn(Tanh, b.mul(b.num(0.5), u)), e))
	},
	NormalInverseSlope: func(b *builder, e, u *Expr) *Expr { return b.fn(NormalInverseBend, u) },
	NormalInverseBend: func(b *builder, e, u *Expr) *Expr { // from g″ = g′(1−2s) + g·g′²
		g := b.fn(NormalInverse, u)
		d := b.fn(NormalInverseSlope, u)
		less := b.neg(b.fn(Tanh, b.mul(b.num(0.5), u)))
		sum := b.sub(b.mul(e, less), b.mul(b.num(2), b.mul(b.fn(SigmoidSlope, u), d)))
		return b.add(sum, b.mul(d, b.add(b.mul(d, d), b.mul(b.num(2), b.mul(g, e)))))
	},
}
