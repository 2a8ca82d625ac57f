package export

import (
	"math"
	"sync"

	"utvi/internal/special"
)

// This file has the functions that ONNX lacks, or that runtimes compute with an absolute
// error: here they keep their digits in the tails. None of them relies on an order of
// operations that an optimiser may change.

// sigmoid is 1/(1+e⁻ˣ).
func (o ops) sigmoid(x value) value {
	e := o.exp(o.neg(o.abs(x)))
	r := o.unary("Reciprocal", o.plus(e, 1))
	return o.where(o.below(x, 0), o.mul(e, r), r)
}

// sigmoidSlope is sigmoid(x)·sigmoid(−x) = e/(1+e)², e = exp(−|x|).
func (o ops) sigmoidSlope(x value) value {
	e := o.exp(o.neg(o.abs(x)))
	return o.div(e, o.square(o.plus(e, 1)))
}

// softplus is ln(1+eˣ).
func (o ops) softplus(x value) value {
	e := o.exp(o.neg(o.abs(x)))
	return o.add(o.max(x, o.Float(0)), o.logSmall(e))
}

// logSmall is ln(1+x) for −1 < x ≤ 1: twice the inverse hyperbolic tangent of x/(2+x).
func (o ops) logSmall(x value) value {
	return o.times(o.unary("Atanh", o.div(x, o.plus(x, 2))), 2)
}

// log1p is ln(1+x).
func (o ops) log1p(x value) value {
	return o.where(o.below(x, 1), o.logSmall(x), o.unary("Log", o.plus(x, 1)))
}

// expm1 is eˣ−1: near 0 by t = tanh(x/2), as 2t/(1−t).
func (o ops) expm1(x value) value {
	t := o.unary("Tanh", o.times(x, 0.5))
	near := o.div(o.times(t, 2), o.from(1, t))
	return o.where(o.below(o.abs(x), 0.5), near, o.plus(o.exp(x), -1))
}

// density is the standard Normal density.
func (o ops) density(x value) value {
	return o.times(o.exp(o.times(o.square(x), -0.5)), 1/math.Sqrt(2*math.Pi))
}

// cdf is the standard Normal distribution function.
func (o ops) cdf(x value) value {
	t := o.min(o.abs(x), o.Float(tailEnd))
	tail := o.mul(o.density(t), o.upper(t).mills())
	return o.where(o.below(x, 0), tail, o.from(1, tail))
}

const (
	tailEnd  = 17  // where the density is zero in float32
	tailPole = 2.5 // the polynomials' variable is (t−2.5)/(t+2.5)
)

// An upper gives the integrals Iₙ(t) of xⁿ·φ(t+x)/φ(t) over x > 0 for 0 ≤ t ≤ tailEnd,
// as polynomials: I₀ is the Mills ratio, I₁ = 1 − t·I₀ and I₂ = I₀ − t·I₁.
type upper struct {
	o    ops
	d, q value
}

func (o ops) upper(t value) upper {
	d := o.unary("Reciprocal", o.plus(t, tailPole))
	return upper{o, d, o.mul(o.plus(t, -tailPole), d)}
}

func (u upper) mills() value { return u.o.mul(u.o.poly(u.q, tails()[0]), u.d) }
func (u upper) first() value { return u.o.mul(u.o.poly(u.q, tails()[1]), u.o.square(u.d)) }
func (u upper) second() value {
	return u.o.mul(u.o.poly(u.q, tails()[2]), u.o.mul(u.o.square(u.d), u.d))
}

// tails are the polynomials Iₙ·(t+2.5)ⁿ⁺¹.
var tails = sync.OnceValue(func() (c [3][]float64) {
	for n, degree := range []int{9, 10, 12} {
		c[n] = fit(func(q float64) float64 {
			s := 2 * tailPole / (1 - q) // t + 2.5
			i := special.Tail(s - tailPole)
			return [3]float64{i.I0, i.I1, 2 * i.I2}[n] * math.Pow(s, float64(n+1))
		}, -1, 1-2*tailPole/(tailPole+tailEnd), degree)
	}
	return c
})

const (
	inverseCentre = 4   // |t| below which normalInverse is odd in t
	inverseEnd    = 128 // and beyond which it is asymptotic
)

// normalInverse is Φ⁻¹(sigmoid(t)).
func (o ops) normalInverse(x value) value {
	a := o.abs(x)
	t := o.min(a, o.Float(inverseEnd))
	c := inverses()
	mid := o.mul(o.poly(o.square(t), c.mid), t)
	s := o.plus(o.sqrt(t), inverseRoot)
	q := o.from(1, o.div(o.Float(2*inverseRoot), s))
	far := o.mul(s, o.poly(q, c.far))
	g := o.where(o.below(t, inverseCentre), mid, far)
	// Far out g²/2 + ln g + 1/g² − 5/(2g⁴) + ln √2π = t.
	beyond := o.sqrt(o.times(o.max(a, o.Float(inverseEnd)), 2))
	for range 3 {
		i := o.unary("Reciprocal", o.square(beyond))
		rest := o.add(o.unary("Log", beyond), o.mul(i, o.from(1, o.times(i, 2.5))))
		beyond = o.sqrt(o.times(o.plus(o.sub(o.max(a, o.Float(inverseEnd)), rest), -math.Log(2*math.Pi)/2), 2))
	}
	g = o.where(o.above(a, inverseEnd), beyond, g)
	return o.mul(g, o.unary("Sign", x))
}

// normalInverseSlope is its slope, sigmoid(|t|)·Mills(|g|).
func (o ops) normalInverseSlope(x value) value {
	g := o.min(o.abs(o.normalInverse(x)), o.Float(tailEnd))
	return o.mul(o.sigmoid(o.abs(x)), o.upper(g).mills())
}

// normalInverseBend is the second derivative, g′·sigmoid(|t|)·(e^−|t| − I₁(|g|)) with the
// sign of t.
func (o ops) normalInverseBend(x value) value {
	g := o.min(o.abs(o.normalInverse(x)), o.Float(tailEnd))
	a := o.abs(x)
	rest := o.sub(o.exp(o.neg(a)), o.upper(g).first())
	return o.mul(o.unary("Sign", x), o.mul(o.mul(o.normalInverseSlope(x), o.sigmoid(a)), rest))
}

// inverseRoot is the pole of the far polynomial, in √t.
const inverseRoot = 3

var inverses = sync.OnceValue(func() (c struct{ mid, far []float64 }) {
	c.mid = fit(func(w float64) float64 {
		t := math.Sqrt(w)
		return special.NormalInverse(t) / t
	}, 0, inverseCentre*inverseCentre, 10)
	lo, hi := math.Sqrt(inverseCentre), math.Sqrt(inverseEnd)
	c.far = fit(func(q float64) float64 {
		s := 2 * inverseRoot / (1 - q)
		return special.NormalInverse((s-inverseRoot)*(s-inverseRoot)) / s
	}, (lo-inverseRoot)/(lo+inverseRoot), (hi-inverseRoot)/(hi+inverseRoot), 12)
	return c
})
