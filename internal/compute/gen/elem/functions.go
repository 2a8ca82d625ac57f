package main

import (
	"math"

	. "utvi/internal/compute/gen/vec"
)

// A body emits the value of a function and, if slope, its slope.
type body func(x V, slope bool) (f, df V)

// A function has an Op in package kernel, and here what its loop does.
type function struct {
	op    string      // OpTanh is "Tanh"
	begin func() body // emits what precedes the loops

	// A function whose lanes beyond some x are left to scalar code has |f| up to most within.
	most float64
}

var functions = []function{
	{op: "LeakyReLU", begin: func() body { return leakyReLU(param()) }},
	{op: "ELU", begin: func() body { return elu(param()) }},
	{op: "Exp", begin: always(exp)},
	{op: "Square", begin: always(square)},
	{op: "Sigmoid", begin: always(sigmoid)},
	{op: "Softplus", begin: always(softplus)},
	{op: "SiLU", begin: always(silu)},
	{op: "Tanh", begin: always(tanh)},
	{op: "Erf", begin: always(erf)},
	{op: "NormalCDF", begin: always(normalCDF)},
	{op: "GELU", begin: always(gelu)},
	{op: "Sin", begin: func() body { return within(SinCosEnd, sin) }, most: 1},
	{op: "Cos", begin: func() body { return within(SinCosEnd, cos) }, most: 1},
	{op: "NormalInverse", begin: func() body { return within(inverseEnd, normalInverse) }, most: 16},
}

// always begins with nothing.
func always(b body) func() body { return func() body { return b } }

// one is not to be written to.
func one() V { return Hold(1) }

// leakyReLU guards 0·(−Inf): for a = 0 the left side stops at −MaxFloat32.
func leakyReLU(a V) body {
	none, floor := Zero(), leftEnd(a)
	return func(x V, slope bool) (f, df V) {
		right := Compare(x, Greater, none)
		f = Select(right, x, Mul(MaxOf(floor, x), a))
		if slope {
			df = Or(Select(right, one(), a), Compare(x, Unordered, x))
		}
		return f, df
	}
}

// leftEnd is how far left x is followed: −Inf, but finite for a = 0.
func leftEnd(a V) V {
	flat := Compare(a, Equal, Zero())
	return Select(flat, Reg(Const(-math.MaxFloat32)), Reg(Const(float32(math.Inf(-1)))))
}

func elu(a V) body {
	return func(x V, slope bool) (f, df V) {
		right := Compare(x, Greater, Zero())
		p := ExpParts(Max(-104, Min(0, x)))
		s := p.Pow2()
		left := Sub(s, Const(1)) // eˣ−1 = 2ⁿ·p + (2ⁿ−1)
		AddMul(left, p.P, s)
		left = Mul(Or(left, Sign(x)), a) // the sign of −0
		f = Select(right, x, left)
		if slope {
			df = Select(right, one(), p.Scale(Mul(p.Y(), a)))
		}
		return f, df
	}
}

func exp(x V, slope bool) (f, df V) {
	f = Exp(x)
	return f, f
}

func square(x V, slope bool) (f, df V) {
	f = Mul(x, x)
	if slope {
		df = Add(x, x)
	}
	return f, df
}

func sin(x V, slope bool) (f, df V) { return SinCos(x) }

func cos(x V, slope bool) (f, df V) {
	s, c := SinCos(x)
	return c, Neg(s)
}
