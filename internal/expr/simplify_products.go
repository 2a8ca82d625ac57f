package expr

import "math"

// mul is u·v.
func (b *builder) mul(u, v *Expr) *Expr {
	u, v = inOrder(u, v)
	for _, rule := range [...]func(b *builder, u, v *Expr) *Expr{
		(*builder).mulNumbers,
		(*builder).mulNegatives,
		(*builder).mulFactors,
		(*builder).mulQuotients,
	} {
		if e := rule(b, u, v); e != nil {
			return e
		}
	}
	return b.node(Mul, u, v)
}

func (b *builder) mulNumbers(u, v *Expr) *Expr {
	switch {
	case u.op == Num && v.op == Num:
		return b.num(u.value * v.value)
	case u.is(0):
		return u
	case u.is(1):
		return v
	case u.is(-1):
		return b.neg(v)
	}
	return nil
}

func (b *builder) mulNegatives(u, v *Expr) *Expr {
	switch {
	case u.op == Neg:
		return b.neg(b.mul(u.args[0], v))
	case v.op == Neg && u.op == Num:
		return b.mul(b.num(-u.value), v.args[0])
	case v.op == Neg:
		return b.neg(b.mul(u, v.args[0]))
	}
	return nil
}

// mulFactors brings the number of a product outside.
func (b *builder) mulFactors(u, v *Expr) *Expr {
	switch {
	case u.op == Num && hasFactor(v):
		return b.mul(b.num(u.value*v.args[0].value), v.args[1])
	case hasFactor(u):
		return b.mul(u.args[0], b.mul(u.args[1], v))
	case hasFactor(v):
		return b.mul(v.args[0], b.mul(u, v.args[1]))
	}
	return nil
}

// hasFactor reports whether u is a product with a number.
func hasFactor(u *Expr) bool { return u.op == Mul && u.args[0].op == Num }

// isInverse reports whether u is 1/w.
func isInverse(u *Expr) bool { return u.op == Div && u.args[0].is(1) }

func (b *builder) mulQuotients(u, v *Expr) *Expr {
	switch {
	case isInverse(u):
		return b.div(v, u.args[1])
	case isInverse(v) && u.op != Num:
		return b.div(u, v.args[1])
	case v.op == Div && v.args[0].op == Num && u.op == Num:
		return b.div(b.num(u.value*v.args[0].value), v.args[1])
	}
	return nil
}

// div is u/v.
func (b *builder) div(u, v *Expr) *Expr {
	for _, rule := range [...]func(b *builder, u, v *Expr) *Expr{
		(*builder).divNumbers,
		(*builder).divNegatives,
		(*builder).divFactors,
		(*builder).hyperbolic,
		(*builder).logistic,
	} {
		if e := rule(b, u, v); e != nil {
			return e
		}
	}
	return b.node(Div, u, v)
}

func (b *builder) divNumbers(u, v *Expr) *Expr {
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
	}
	return nil
}

func (b *builder) divNegatives(u, v *Expr) *Expr {
	switch {
	case u.op == Neg:
		return b.neg(b.div(u.args[0], v))
	case v.op == Neg:
		return b.neg(b.div(u, v.args[0]))
	}
	return nil
}

// divFactors brings the number of a product outside, and turns 1/w around.
func (b *builder) divFactors(u, v *Expr) *Expr {
	switch {
	case hasFactor(u):
		return b.mul(u.args[0], b.div(u.args[1], v))
	case hasFactor(v) && v.args[0].value != 0:
		return b.mul(b.num(1/v.args[0].value), b.div(u, v.args[1]))
	case isInverse(v):
		return b.mul(u, v.args[1])
	}
	return nil
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

// logistic is u/(1+eʷ) by functions that do not overflow.
func (b *builder) logistic(u, v *Expr) *Expr {
	if v.op != Add || !v.args[0].is(1) || v.args[1].op != Exp {
		return nil
	}
	w := v.args[1].args[0]
	switch {
	case u.op == Exp && u.args[0] == w:
		return b.fn(Sigmoid, w)
	case u.op == Expm1 && u.args[0] == w:
		return b.fn(Tanh, b.mul(b.num(0.5), w))
	}
	return b.mul(u, b.fn(Sigmoid, b.neg(w)))
}

// pow is uᵛ, for powers that are no number by logarithms.
func (b *builder) pow(u, v *Expr) *Expr {
	switch {
	case v.op == Num && u.op == Num:
		return b.num(math.Pow(u.value, v.value))
	case v.op == Num:
		return b.power(u, v)
	case u.op == Num && u.value > 0:
		return b.fn(Exp, b.mul(b.num(math.Log(u.value)), v))
	}
	return b.fn(Exp, b.mul(v, b.fn(Log, u)))
}

// power is u to a number: products for whole powers, roots for halves.
func (b *builder) power(u, v *Expr) *Expr {
	const most = 1 << 10
	p := v.value
	n := math.Floor(p)
	isWhole := p == n
	switch {
	case p == 0:
		return b.num(1)
	case p < 0 && p >= -most:
		return b.div(b.num(1), b.pow(u, b.num(-p)))
	case isWhole && n <= most:
		return b.whole(u, int(n))
	case p == n+0.5 && n <= most:
		return b.mul(b.whole(u, int(n)), b.fn(Sqrt, u))
	case isWhole && math.Mod(n, 2) == 0:
		return b.node(Pow, b.fn(Abs, u), v)
	case isWhole:
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
