package kernel

import (
	"fmt"
	"math"

	"utvi/internal/special"
)

// A bound says how far a result may lie from the exact one: ulp units in the
// last place, or rel relative, or one unit of the last subnormal place, or abs
// within 1 of the place where the function passes through zero.
type bound struct{ ulp, rel, abs, zero float64 }

// An exact function is a kernel's oracle, with the bounds it promises.
type exact struct {
	op       Op
	a        float32
	f, df    func(x float64) float64
	val, der bound
}

func (e exact) name() string {
	names := [NumOps]string{"", "Identity", "LeakyReLU", "ELU", "GELU", "SiLU", "Softplus", "Sigmoid", "Tanh", "Erf",
		"NormalCDF", "Exp", "Sin", "Cos", "Square", "NormalInverse"}
	if e.a != 0 {
		return fmt.Sprintf("%s(%v)", names[e.op], e.a)
	}
	return names[e.op]
}

var (
	micro   = bound{rel: 1e-6}
	rounded = bound{ulp: 0.5}
	ulps    = bound{ulp: 2}
)

func exacts() []exact {
	side := func(right, left func(float64) float64) func(float64) float64 {
		return func(x float64) float64 {
			if x > 0 {
				return right(x)
			}
			return left(x)
		}
	}
	constant := func(c float64) func(float64) float64 {
		return func(x float64) float64 {
			if x != x {
				return x
			}
			return c
		}
	}
	same := func(x float64) float64 { return x }
	leaky := func(a float64) exact {
		return exact{OpLeakyReLU, float32(a), side(same, func(x float64) float64 {
			if a == 0 && x == x {
				return 0
			}
			return a * x
		}), side(constant(1), constant(a)), rounded, rounded}
	}
	elu := func(a float64) exact {
		return exact{OpELU, float32(a), side(same, func(x float64) float64 { return a * math.Expm1(x) }),
			side(constant(1), func(x float64) float64 { return a * math.Exp(x) }), micro, micro}
	}
	pdf := func(x float64) float64 { return math.Exp(-x*x/2) / math.Sqrt(2*math.Pi) }
	cdf := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	sig := func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
	// finite keeps Inf·0 out of an oracle: a float32 function has reached its
	// limit by ±500, where only a growing value goes on.
	finite := func(f func(float64) float64) func(float64) float64 {
		return func(x float64) float64 { return f(max(-500, min(500, x))) }
	}
	gated := func(g func(float64) float64) func(float64) float64 {
		return side(func(x float64) float64 { return x * g(x) }, finite(func(x float64) float64 { return x * g(x) }))
	}
	crossing := func(zero float64) bound { return bound{rel: 1e-6, abs: 2e-7, zero: zero} }
	inverse := func(k int) func(float64) float64 {
		return func(x float64) float64 {
			g, d, _ := special.NormalInverseJet(x)
			return [2]float64{g, d}[k]
		}
	}
	return []exact{
		{OpIdentity, 0, same, constant(1), rounded, rounded},
		leaky(0), leaky(float64(float32(0.01))), leaky(-1),
		elu(1), elu(0.5),
		{OpGELU, 0, gated(cdf), finite(func(x float64) float64 { return cdf(x) + x*pdf(x) }), micro, crossing(-0.75)},
		{OpSiLU, 0, gated(sig), finite(func(x float64) float64 { return sig(x) * (1 + x*sig(-x)) }), micro, crossing(-1.28)},
		{OpSoftplus, 0, side(func(x float64) float64 { return x + math.Log1p(math.Exp(-x)) },
			func(x float64) float64 { return math.Log1p(math.Exp(x)) }), sig, micro, micro},
		{OpSigmoid, 0, sig, func(x float64) float64 { return sig(x) * sig(-x) }, micro, micro},
		{OpTanh, 0, math.Tanh, func(x float64) float64 { return 1 / math.Cosh(x) / math.Cosh(x) }, micro, micro},
		{OpErf, 0, math.Erf, func(x float64) float64 { return 2 / math.SqrtPi * math.Exp(-x*x) }, micro, micro},
		{OpNormalCDF, 0, cdf, pdf, micro, micro},
		{OpExp, 0, math.Exp, math.Exp, ulps, ulps},
		{OpSin, 0, math.Sin, math.Cos, micro, micro},
		{OpCos, 0, math.Cos, func(x float64) float64 { return -math.Sin(x) }, micro, micro},
		{OpSquare, 0, func(x float64) float64 { return x * x }, func(x float64) float64 { return 2 * x }, rounded, rounded},
		{OpNormalInverse, 0, inverse(0), inverse(1), micro, micro},
	}
}

// off measures got against want at x: 1 is the bound.
func (b bound) off(x, got float32, want float64) float64 {
	r := float32(want)
	switch {
	case want != want || got != got:
		if want != want && got != got {
			return 0
		}
		return math.Inf(1)
	case got == r:
		return 0
	case math.IsInf(float64(got), 0) && math.Abs(want) > math.MaxFloat32*(1-1e-6),
		math.IsInf(float64(r), 0) && math.Abs(float64(got)) > math.MaxFloat32*(1-1e-6):
		return 0
	}
	allowed := max(b.ulp*ulp(math.Abs(want)), b.rel*math.Abs(want), 0x1p-149)
	if math.Abs(float64(x)-b.zero) < 1 {
		allowed = max(allowed, b.abs)
	}
	return math.Abs(float64(got)-want) / allowed
}

// ulp is the distance from a > 0 to the next float32.
func ulp(a float64) float64 {
	f := float32(a)
	return float64(math.Nextafter32(f, float32(math.Inf(1)))) - float64(f)
}
