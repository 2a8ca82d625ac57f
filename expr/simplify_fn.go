package expr

import "utvi/internal/compute/bytecode"

// fn is a function of one argument.
func (b *builder) fn(op Op, u *Expr) *Expr {
	if u.op == Num {
		return b.num(value(op, u.value))
	}
	switch {
	case op == Log && u.op == Exp:
		return u.args[0]
	case op == Log && u.op == Add && u.args[0].is(1):
		return b.fn(Log1p, u.args[1])
	case op == Log && u.op == Sigmoid:
		return b.neg(b.fn(Softplus, b.neg(u.args[0])))
	case op == Log1p && u.op == Exp:
		return b.fn(Softplus, u.args[0])
	case op == Log1p && u.op == Expm1:
		return u.args[0]
	case op == Sqrt && u.op == Mul && u.args[0] == u.args[1]:
		return b.fn(Abs, u.args[0])
	case op == Abs && u.op == Neg:
		return b.fn(Abs, u.args[0])
	case op == Abs && u.op == Abs, op == Abs && u.op == Exp, op == Abs && u.op == Sqrt:
		return u
	case op == Abs && u.op == Sub && u.args[1].id < u.args[0].id: // |a−b| is |b−a|
		return b.fn(Abs, b.node(Sub, u.args[1], u.args[0]))
	case u.op == Neg && (op == Sin || op == Tanh || op == Erf || op == Atan || op == Sign || op == NormalInverse):
		return b.neg(b.fn(op, u.args[0]))
	case u.op == Neg && (op == Cos || op == NormalPDF || op == TanhSlope || op == SigmoidSlope || op == ErfSlope || op == NormalInverseSlope):
		return b.fn(op, u.args[0])
	}
	return b.node(op, u)
}

// value is a function of a number.
func value(op Op, x float64) float64 {
	b := newBuilder()
	var out [1]float64
	compile([]*Expr{b.node(op, b.x())}, nil).At(x, nil, out[:])
	return out[0]
}

func (b *builder) extreme(op Op, u, v *Expr) *Expr {
	if u.op == Num || v.op != Num && v.id < u.id {
		u, v = v, u
	}
	switch {
	case u.op == Num:
		if op == Min {
			return b.num(min(u.value, v.value))
		}
		return b.num(max(u.value, v.value))
	case u == v:
		return u
	case op == Max && b.neg(u) == v:
		return b.fn(Abs, u)
	case op == Min && b.neg(u) == v:
		return b.neg(b.fn(Abs, u))
	}
	if k, w := split(v); op == Max && w == u && k > 0 && k < 1 { // a leaky ReLU
		return b.where(b.compare(Less, b.num(0), u), u, v)
	}
	return b.node(op, u, v)
}

func (b *builder) compare(op Op, u, v *Expr) *Expr {
	switch {
	case u.op == Num && v.op == Num:
		in := bytecode.Instr{Code: codes[op], X: 1, Y: 2, Dst: 3}
		var out [1]float64
		p := bytecode.Program{Consts: []float64{u.value, v.value}, Outs: 1, Slots: 4, Code: []bytecode.Instr{in}}
		p.At(0, nil, out[:])
		return b.num(out[0])
	case (op == Equal || op == NotEqual) && v.id < u.id:
		u, v = v, u
	}
	return b.node(op, u, v)
}

func (b *builder) where(c, u, v *Expr) *Expr {
	switch {
	case c.op == Num && c.value != 0:
		return u
	case c.op == Num:
		return v
	case u == v:
		return u
	case u.is(1) && v.is(0) && isComparison(c):
		return c
	case c.op == Less && c.args[0].is(0) && c.args[1] == u && v.is(0):
		return b.extreme(Max, u, v)
	}
	return b.node(Where, c, u, v)
}
