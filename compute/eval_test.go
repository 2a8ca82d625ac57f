package compute

import (
	"fmt"
	"math"
	"os"
	"testing"

	"utvi/special"
)

// A bound says how far a result may lie from the exact one: ulp units in the
// last place, or rel relative, or one unit of the last subnormal place, or abs.
type bound struct{ ulp, rel, abs float64 }

// An exact function is a kernel's oracle, with the bounds it promises.
type exact struct {
	op       Op
	a        float32
	f, df    func(x float64) float64
	val, der bound
}

func (e exact) name() string {
	names := [numKernels]string{"", "Identity", "LeakyReLU", "ELU", "GELU", "SiLU", "Softplus", "Sigmoid", "Tanh", "Erf",
		"NormalCDF", "Exp", "Sin", "Cos", "Square", "NormalInverse", "Log", "Sqrt", "NormalPDF", "NormalQuantile"}
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
	crossing := bound{rel: 1e-6, abs: 2e-7}
	reciprocal := func(x float64) float64 {
		if x < 0 {
			return math.NaN()
		}
		return 1 / math.Abs(x) // +Inf at −0 too
	}
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
		{OpGELU, 0, gated(cdf), finite(func(x float64) float64 { return cdf(x) + x*pdf(x) }), micro, crossing},
		{OpSiLU, 0, gated(sig), finite(func(x float64) float64 { return sig(x) * (1 + x*sig(-x)) }), micro, crossing},
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
		{opLog, 0, math.Log, reciprocal, ulps, rounded},
		{opSqrt, 0, math.Sqrt, func(x float64) float64 { return 0.5 / math.Sqrt(x) }, rounded, bound{ulp: 1.5}},
		{opNormalPDF, 0, pdf, finite(func(x float64) float64 { return -x * pdf(x) }), micro, micro},
		{opNormalQuantile, 0, special.Quantile, func(p float64) float64 { return 1 / pdf(special.Quantile(p)) }, micro, micro},
	}
}

// A vector kernel that is missing must not pass by testing the Go twin only.
func TestEveryOpHasAVectorKernel(t *testing.T) {
	for op := OpUser + 1; hasVector && op < numKernels; op++ {
		if vectorKernels[op] == nil {
			t.Errorf("op %d has no vector kernel", op)
		}
	}
}

// inputs are float32 bit patterns over the whole range, subnormals, infinities
// and NaN included, and the neighbourhoods of the places where kernels switch.
func inputs() []float32 {
	stride := uint64(1<<13 - 1)
	if os.Getenv("UTVI_LONG") != "" {
		stride = 1<<5 - 1
	}
	var x []float32
	for b := uint64(0); b < 1<<32; b += stride {
		x = append(x, math.Float32frombits(uint32(b)))
	}
	for _, v := range []float32{0, 1, 0.125, 0.875, 0.5, 2, 3.925, 4, 10.5, 11.3137, 15, 17, 53, 88, 88.7228, 89, 87.3365, 103.972, 104,
		112, 128, 0x1p-126, 0x1p-149, 1 << 16, math.MaxFloat32, float32(math.Inf(1)), float32(math.NaN())} {
		b := math.Float32bits(v)
		for d := range uint32(65) {
			x = append(x, math.Float32frombits(b+d-32), math.Float32frombits((b+d-32)^1<<31))
		}
	}
	return x
}

// off measures got against want: 1 is the bound.
func (b bound) off(got float32, want float64) float64 {
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
	next := math.Nextafter32(float32(math.Abs(want)), float32(math.Inf(1)))
	ulp := float64(next) - float64(float32(math.Abs(want)))
	allowed := max(b.ulp*ulp, b.rel*math.Abs(want), b.abs, 0x1p-149)
	return math.Abs(float64(got)-want) / allowed
}

func TestEvalBounds(t *testing.T) {
	x := inputs()
	n := len(x)
	want, slope := make([]float64, n), make([]float64, n)
	for _, e := range exacts() {
		for i, v := range x {
			want[i], slope[i] = e.f(float64(v)), e.df(float64(v))
		}
		t.Run(e.name(), func(t *testing.T) {
			eachFamily(t, func(t *testing.T) {
				f, df, alone := make([]float32, n), make([]float32, n), make([]float32, n)
				run(e.op, e.a, x, f, df)
				run(e.op, e.a, x, alone, nil)
				val, der, vi, di := 0.0, 0.0, 0, 0
				for i := range x {
					if o := e.val.off(f[i], want[i]); o > val {
						val, vi = o, i
					}
					if o := e.der.off(df[i], slope[i]); o > der {
						der, di = o, i
					}
					if math.Float32bits(f[i]) != math.Float32bits(alone[i]) && f[i] == f[i] {
						t.Fatalf("f(%v) = %v alone, %v with its slope", x[i], alone[i], f[i])
					}
				}
				t.Logf("value %.2f of the bound at %g, slope %.2f at %g", val, x[vi], der, x[di])
				if val > 1 {
					t.Errorf("f(%g [%08x]) = %g, want %g", x[vi], math.Float32bits(x[vi]), f[vi], want[vi])
				}
				if der > 1 {
					t.Errorf("f'(%g [%08x]) = %g, want %g", x[di], math.Float32bits(x[di]), df[di], slope[di])
				}
			})
		})
	}
}
