package expr

import "math"

// The constructors below simplify. Sums and products have a number first, and
// products have their only number outermost: 2·(x·y).

func (b *builder) add(u, v *Expr) *Expr {
	if v.op == Num || u.op != Num && v.id < u.id {
		u, v = v, u
	}
	switch {
	case u.op == Num && v.op == Num:
		return b.num(u.value + v.value)
	case u.is(0):
		return v
	case base(u) == base(v):
		return b.mul(b.num(factor(u)+factor(v)), base(u))
	case v.op == Neg:
		return b.sub(u, v.args[0])
	case u.op == Neg:
		return b.sub(v, u.args[0])
	case v.op == Add && v.args[0] == u:
		return b.add(b.mul(b.num(2), u), v.args[1])
	case v.op == Sub && v.args[0] == u:
		return b.sub(b.mul(b.num(2), u), v.args[1])
	case u.op == Num && v.op == Add && v.args[0].op == Num:
		return b.add(b.num(u.value+v.args[0].value), v.args[1])
	case u.op == Num && v.op == Sub && v.args[0].op == Num:
		return b.sub(b.num(u.value+v.args[0].value), v.args[1])
	case u.is(-1) && v.op == Exp:
		return b.fn(Expm1, v.args[0])
	case u.is(1) && v.op == Expm1:
		return b.fn(Exp, v.args[0])
	case u.is(1) && v.op == Erf: // 2Φ(√2·v)
		return b.mul(b.num(2), b.fn(NormalCDF, b.rootTwo(v.args[0])))
	case u.is(-1) && v.op == Mul && v.args[0].is(2) && v.args[1].op == Sigmoid:
		return b.fn(Tanh, b.mul(b.num(0.5), v.args[1].args[0]))
	}
	return b.node(Add, u, v)
}

// rootTwo is √2·u, without the last place that √2·(u/√2) would be off.
func (b *builder) rootTwo(u *Expr) *Expr {
	k, v := split(u)
	k *= math.Sqrt2
	if r := math.Round(k); math.Abs(k-r) <= 1e-15*math.Abs(r) {
		k = r
	}
	return b.mul(b.num(k), v)
}

// split takes a product's number apart: k·v.
func split(u *Expr) (k float64, v *Expr) {
	if u.op == Mul && u.args[0].op == Num {
		return u.args[0].value, u.args[1]
	}
	return 1, u
}

func factor(u *Expr) float64 { k, _ := split(u); return k }
func base(u *Expr) *Expr     { _, v := split(u); return v }

func (b *builder) sub(u, v *Expr) *Expr {
	switch {
	case u.op == Num && v.op == Num:
		return b.num(u.value - v.value)
	case v.op == Num:
		return b.add(b.num(-v.value), u)
	case u.is(0):
		return b.neg(v)
	case base(u) == base(v):
		return b.mul(b.num(factor(u)-factor(v)), base(u))
	case v.op == Neg:
		return b.add(u, v.args[0])
	case u.is(1):
		switch {
		case v.op == Sigmoid || v.op == NormalCDF:
			return b.fn(v.op, b.neg(v.args[0]))
		case v.op == Erf:
			return b.mul(b.num(2), b.fn(NormalCDF, b.neg(b.rootTwo(v.args[0]))))
		case v.op == Exp:
			return b.neg(b.fn(Expm1, v.args[0]))
		case v.op == Mul && v.args[0] == v.args[1] && v.args[0].op == Tanh:
			return b.fn(TanhSlope, v.args[0].args[0])
		}
	case u.op == Num && v.op == Add && v.args[0].op == Num:
		return b.sub(b.num(u.value-v.args[0].value), v.args[1])
	case u.op == Num && v.op == Sub && v.args[0].op == Num:
		return b.add(b.num(u.value-v.args[0].value), v.args[1])
	}
	return b.node(Sub, u, v)
}

func (b *builder) neg(u *Expr) *Expr {
	switch {
	case u.op == Num:
		return b.num(-u.value)
	case u.op == Neg:
		return u.args[0]
	case u.op == Sub:
		return b.sub(u.args[1], u.args[0])
	case u.op == Mul && u.args[0].op == Num:
		return b.mul(b.num(-u.args[0].value), u.args[1])
	}
	return b.node(Neg, u)
}

func (b *builder) mul(u, v *Expr) *Expr {
	if v.op == Num || u.op != Num && v.id < u.id {
		u, v = v, u
	}
	switch {
	case u.op == Num && v.op == Num:
		return b.num(u.value * v.value)
	case u.is(0):
		return u
	case u.is(1):
		return v
	case u.is(-1):
		return b.neg(v)
	case u.op == Neg:
		return b.neg(b.mul(u.args[0], v))
	case v.op == Neg && u.op == Num:
		return b.mul(b.num(-u.value), v.args[0])
	case v.op == Neg:
		return b.neg(b.mul(u, v.args[0]))
	case u.op == Num && v.op == Mul && v.args[0].op == Num:
		return b.mul(b.num(u.value*v.args[0].value), v.args[1])
	case u.op == Mul && u.args[0].op == Num:
		return b.mul(u.args[0], b.mul(u.args[1], v))
	case v.op == Mul && v.args[0].op == Num:
		return b.mul(v.args[0], b.mul(u, v.args[1]))
	case u.op == Div && u.args[0].is(1):
		return b.div(v, u.args[1])
	case v.op == Div && v.args[0].is(1) && u.op != Num:
		return b.div(u, v.args[1])
	case v.op == Div && v.args[0].op == Num && u.op == Num:
		return b.div(b.num(u.value*v.args[0].value), v.args[1])
	}
	return b.node(Mul, u, v)
}

func (b *builder) div(u, v *Expr) *Expr {
	switch {
	case u.op == Num && v.op == Num:
		return b.num(u.value / v.value)
	case v.is(0):
		return b.num(math.NaN())
	case v.op == Num && !math.IsInf(1/v.value, 0):
		return b.mul(b.num(1/v.value), u)
	case u.is(0):
		return u
	case u == v:
		return b.num(1)
	case u.op == Neg:
		return b.neg(b.div(u.args[0], v))
	case v.op == Neg:
		return b.neg(b.div(u, v.args[0]))
	case u.op == Mul && u.args[0].op == Num:
		return b.mul(u.args[0], b.div(u.args[1], v))
	case v.op == Mul && v.args[0].op == Num && v.args[0].value != 0:
		return b.mul(b.num(1/v.args[0].value), b.div(u, v.args[1]))
	case v.op == Div && v.args[0].is(1):
		return b.mul(u, v.args[1])
	}
	if t := b.hyperbolic(u, v); t != nil {
		return t
	}
	if v.op == Add && v.args[0].is(1) && v.args[1].op == Exp { // u/(1+eʷ)
		w := v.args[1].args[0]
		switch {
		case u.op == Exp && u.args[0] == w:
			return b.fn(Sigmoid, w)
		case u.op == Expm1 && u.args[0] == w:
			return b.fn(Tanh, b.mul(b.num(0.5), w))
		}
		return b.mul(u, b.fn(Sigmoid, b.neg(w)))
	}
	return b.node(Div, u, v)
}

// hyperbolic is tanh where u/v is sinh over cosh, as exponentials; else nil.
func (b *builder) hyperbolic(u, v *Expr) *Expr {
	if u.op != Sub || v.op != Add || u.args[0].op != Exp || u.args[1].op != Exp {
		return nil
	}
	p, q := u.args[0], u.args[1]
	if v != b.add(p, q) || b.neg(p.args[0]) != q.args[0] {
		return nil
	}
	return b.fn(Tanh, p.args[0])
}

// pow is uᵛ: products for whole powers, roots for halves, else by logarithms.
func (b *builder) pow(u, v *Expr) *Expr {
	if u.op == Num && v.op == Num {
		return b.num(math.Pow(u.value, v.value))
	}
	if v.op != Num {
		if u.op == Num && u.value > 0 {
			return b.fn(Exp, b.mul(b.num(math.Log(u.value)), v))
		}
		return b.fn(Exp, b.mul(v, b.fn(Log, u)))
	}
	n := math.Floor(v.value)
	const most = 1 << 10
	switch {
	case v.value == 0:
		return b.num(1)
	case v.value < 0 && v.value >= -most:
		return b.div(b.num(1), b.pow(u, b.num(-v.value)))
	case v.value == n && n <= most:
		return b.whole(u, int(n))
	case v.value == n+0.5 && n <= most:
		return b.mul(b.whole(u, int(n)), b.fn(Sqrt, u))
	case v.value == n && math.Mod(n, 2) == 0:
		return b.node(Pow, b.fn(Abs, u), v)
	case v.value == n:
		return b.mul(b.fn(Sign, u), b.node(Pow, b.fn(Abs, u), v))
	}
	return b.node(Pow, u, v)
}

// whole is uⁿ by squaring.
func (b *builder) whole(u *Expr, n int) *Expr {
	y := b.num(1)
	for ; n > 0; n /= 2 {
		if n%2 == 1 {
			y = b.mul(y, u)
		}
		if n > 1 {
			u = b.mul(u, u)
		}
	}
	return y
}
