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
	one := b.num(1)
	switch e.op {
	case Sqrt:
		return b.div(b.num(0.5), e)
	case Log:
		return b.div(one, u)
	case Log1p:
		return b.div(one, b.add(one, u))
	case Exp:
		return e
	case Expm1:
		return b.fn(Exp, u)
	case Sin:
		return b.fn(Cos, u)
	case Cos:
		return b.neg(b.fn(Sin, u))
	case Atan:
		return b.div(one, b.add(one, b.mul(u, u)))
	case Tanh:
		return b.fn(TanhSlope, u)
	case TanhSlope:
		return b.mul(b.num(-2), b.mul(b.fn(Tanh, u), e))
	case Sigmoid:
		return b.fn(SigmoidSlope, u)
	case SigmoidSlope: // 1 − 2·sigmoid(u) = −tanh(u/2)
		return b.neg(b.mul(b.fn(Tanh, b.mul(b.num(0.5), u)), e))
	case Softplus:
		return b.fn(Sigmoid, u)
	case Erf:
		return b.fn(ErfSlope, u)
	case ErfSlope:
		return b.mul(b.num(-2), b.mul(u, e))
	case NormalCDF:
		return b.fn(NormalPDF, u)
	case NormalPDF:
		return b.neg(b.mul(u, e))
	case NormalInverse:
		return b.fn(NormalInverseSlope, u)
	case NormalInverseSlope:
		return b.fn(NormalInverseBend, u)
	case NormalInverseBend: // from g″ = g′(1−2s) + g·g′²
		g, d := b.fn(NormalInverse, u), b.fn(NormalInverseSlope, u)
		less := b.neg(b.fn(Tanh, b.mul(b.num(0.5), u)))
		sum := b.sub(b.mul(e, less), b.mul(b.num(2), b.mul(b.fn(SigmoidSlope, u), d)))
		return b.add(sum, b.mul(d, b.add(b.mul(d, d), b.mul(b.num(2), b.mul(g, e)))))
	}
	return b.num(math.NaN())
}
