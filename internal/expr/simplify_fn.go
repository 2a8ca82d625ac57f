package expr

import "utvi/internal/compute/bytecode"

// fn is a function of one argument.
func (b *builder) fn(op Op, u *Expr) *Expr {
	if u.op == Num {
		return b.num(value(op, u.value))
	}
	var e *Expr
	switch {
	case op == Log:
		e = b.log(u)
	case op == Log1p:
		e = b.log1p(u)
	case op == Sqrt && u.op == Mul && u.args[0] == u.args[1]:
		e = b.fn(Abs, u.args[0])
	case op == Abs:
		e = b.abs(u)
	case odd[op] && u.op == Neg:
		e = b.neg(b.fn(op, u.args[0]))
	case even[op] && u.op == Neg:
		e = b.fn(op, u.args[0])
	}
	if e != nil {
		return e
	}
	return b.node(op, u)
}

// odd functions change their sign with that of their argument, even ones do not change.
var (
	odd  = map[Op]bool{Sin: true, Tanh: true, Erf: true, Atan: true, Sign: true, NormalInverse: true}
	even = map[Op]bool{Cos: true, NormalPDF: true, TanhSlope: true, SigmoidSlope: true, ErfSlope: true, NormalInverseSlope: true}
)

// log is ln u where that has another form, else nil.
func (b *builder) log(u *Expr) *Expr {
	switch {
	case u.op == Exp:
		return u.args[0]
	case u.op == Add && u.args[0].is(1):
		return b.fn(Log1p, u.args[1])
	case u.op == Sigmoid:
		return b.neg(b.fn(Softplus, b.neg(u.args[0])))
	}
	return nil
}

// log1p is ln(1+u) where that has another form, else nil.
func (b *builder) log1p(u *Expr) *Expr {
	switch u.op {
	case Exp:
		return b.fn(Softplus, u.args[0])
	case Expm1:
		return u.args[0]
	}
	return nil
}

// abs is |u| where that has another form, else nil.
func (b *builder) abs(u *Expr) *Expr {
	switch {
	case u.op == Neg:
		return b.fn(Abs, u.args[0])
	case u.op == Abs || u.op == Exp || u.op == Sqrt:
		return u
	case u.op == Sub && u.args[1].id < u.args[0].id: // |a−b| is |b−a|
		return b.fn(Abs, b.node(Sub, u.args[1], u.args[0]))
	}
	return nil
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
