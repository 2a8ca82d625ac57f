package expr

import "math"

// The constructors of sums and products simplify. Sums and products have a number first, and
// products have their only number outermost: 2·(x·y). Each tries its rules in order; a rule
// returns nil where it does not apply.

// inOrder puts a number first, then the node that was made first.
func inOrder(u, v *Expr) (first, second *Expr) {
	if v.op == Num || u.op != Num && v.id < u.id {
		return v, u
	}
	return u, v
}

// add is u + v.
func (b *builder) add(u, v *Expr) *Expr {
	u, v = inOrder(u, v)
	for _, rule := range [...]func(b *builder, u, v *Expr) *Expr{
		(*builder).addNumbers,
		(*builder).addLikeTerms,
		(*builder).addNegatives,
		(*builder).addToSum,
		(*builder).addToFunction,
	} {
		if e := rule(b, u, v); e != nil {
			return e
		}
	}
	return b.node(Add, u, v)
}

func (b *builder) addNumbers(u, v *Expr) *Expr {
	switch {
	case u.op == Num && v.op == Num:
		return b.num(u.value + v.value)
	case u.is(0):
		return v
	}
	return nil
}

// addLikeTerms: 2x + 3x is 5x.
func (b *builder) addLikeTerms(u, v *Expr) *Expr {
	if base(u) != base(v) {
		return nil
	}
	return b.mul(b.num(factor(u)+factor(v)), base(u))
}

func (b *builder) addNegatives(u, v *Expr) *Expr {
	switch {
	case v.op == Neg:
		return b.sub(u, v.args[0])
	case u.op == Neg:
		return b.sub(v, u.args[0])
	}
	return nil
}

// addToSum joins u with the first part of a sum or a difference v.
func (b *builder) addToSum(u, v *Expr) *Expr {
	if v.op != Add && v.op != Sub {
		return nil
	}
	var joined *Expr
	switch first := v.args[0]; {
	case first == u:
		joined = b.mul(b.num(2), u)
	case u.op == Num && first.op == Num:
		joined = b.num(u.value + first.value)
	default:
		return nil
	}
	if v.op == Add {
		return b.add(joined, v.args[1])
	}
	return b.sub(joined, v.args[1])
}

// addToFunction recognises functions that keep their digits.
func (b *builder) addToFunction(u, v *Expr) *Expr {
	switch {
	case u.is(-1) && v.op == Exp:
		return b.fn(Expm1, v.args[0])
	case u.is(1) && v.op == Expm1:
		return b.fn(Exp, v.args[0])
	case u.is(1) && v.op == Erf: // 2Φ(√2·v)
		return b.mul(b.num(2), b.fn(NormalCDF, b.rootTwo(v.args[0])))
	case u.is(-1) && v.op == Mul && v.args[0].is(2) && v.args[1].op == Sigmoid:
		return b.fn(Tanh, b.mul(b.num(0.5), v.args[1].args[0]))
	}
	return nil
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

// sub is u − v.
func (b *builder) sub(u, v *Expr) *Expr {
	for _, rule := range [...]func(b *builder, u, v *Expr) *Expr{
		(*builder).subNumbers,
		(*builder).subLikeTerms,
		(*builder).subFromOne,
		(*builder).subFromNumber,
	} {
		if e := rule(b, u, v); e != nil {
			return e
		}
	}
	return b.node(Sub, u, v)
}

func (b *builder) subNumbers(u, v *Expr) *Expr {
	switch {
	case u.op == Num && v.op == Num:
		return b.num(u.value - v.value)
	case v.op == Num:
		return b.add(b.num(-v.value), u)
	case u.is(0):
		return b.neg(v)
	}
	return nil
}

func (b *builder) subLikeTerms(u, v *Expr) *Expr {
	switch {
	case base(u) == base(v):
		return b.mul(b.num(factor(u)-factor(v)), base(u))
	case v.op == Neg:
		return b.add(u, v.args[0])
	}
	return nil
}

// subFromOne recognises functions that keep their digits: 1 − sigmoid(u) is sigmoid(−u).
func (b *builder) subFromOne(u, v *Expr) *Expr {
	switch {
	case !u.is(1):
		return nil
	case v.op == Sigmoid || v.op == NormalCDF:
		return b.fn(v.op, b.neg(v.args[0]))
	case v.op == Erf:
		return b.mul(b.num(2), b.fn(NormalCDF, b.neg(b.rootTwo(v.args[0]))))
	case v.op == Exp:
		return b.neg(b.fn(Expm1, v.args[0]))
	case v.op == Mul && v.args[0] == v.args[1] && v.args[0].op == Tanh:
		return b.fn(TanhSlope, v.args[0].args[0])
	}
	return b.node(Sub, u, v)
}

// subFromNumber joins a number with that of a sum or a difference v.
func (b *builder) subFromNumber(u, v *Expr) *Expr {
	if u.op != Num || v.op != Add && v.op != Sub || v.args[0].op != Num {
		return nil
	}
	joined := b.num(u.value - v.args[0].value)
	if v.op == Add {
		return b.sub(joined, v.args[1])
	}
	return b.add(joined, v.args[1])
}

// neg is −u.
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
