package kernel

import (
	"math"

	"utvi/internal/special"
)

// The Go twin: every function as value and slope in float64, rounded once.

// scalars are the functions, value and slope, in float64.
var scalars = [NumOps]func(a, x float64) (f, df float64){
	OpIdentity:      identity,
	OpLeakyReLU:     leakyReLU,
	OpELU:           elu,
	OpGELU:          gelu,
	OpSiLU:          silu,
	OpSoftplus:      softplus,
	OpSigmoid:       sigmoid,
	OpTanh:          tanh,
	OpErf:           erf,
	OpNormalCDF:     normalCDF,
	OpExp:           exp,
	OpSin:           sin,
	OpCos:           cos,
	OpSquare:        square,
	OpNormalInverse: normalInverse,
}

// Scalar is op and its slope at one x, in float64; a is the parameter of those ops that take one.
func Scalar(op Op, a, x float64) (f, df float64) { return scalars[op](a, x) }

// goKernels are the kernels of every platform without vector code.
var goKernels = func() (all [NumOps]kernel) {
	for op, f := range scalars {
		if f != nil {
			all[op] = each(f)
		}
	}
	return all
}()

// each makes a kernel of a scalar function.
func each(fn func(a, x float64) (f, df float64)) kernel {
	return func(a float32, x, f, df []float32) {
		for i, v := range x {
			y, dy := fn(float64(a), float64(v))
			f[i] = float32(y)
			if df != nil {
				df[i] = float32(dy)
			}
		}
	}
}

func identity(_, x float64) (f, df float64) { return leakyReLU(1, x) }

func leakyReLU(a, x float64) (f, df float64) {
	switch {
	case x > 0:
		return x, 1
	case x != x:
		return x, x
	case a == 0: // not 0·(−Inf)
		return 0, 0
	}
	return a * x, a
}

func elu(a, x float64) (f, df float64) {
	if x > 0 {
		return x, 1
	}
	return a * math.Expm1(x), a * math.Exp(x)
}

// tail is where Φ, φ and sigmoid are zero even in float64, and still are when
// multiplied by x: it keeps Inf·0 out of x·Φ(x).
const tail = 800

func gelu(_, x float64) (f, df float64) {
	if x > tail {
		return x, 1
	}
	x = max(x, -tail)
	p, d := normalCDF(0, x)
	return x * p, p + x*d
}

func silu(_, x float64) (f, df float64) {
	if x > tail {
		return x, 1
	}
	x = max(x, -tail)
	s, d := sigmoid(0, x)
	return x * s, s + x*d
}

func softplus(_, x float64) (f, df float64) {
	return special.Softplus(x), special.Sigmoid(x)
}

func sigmoid(_, x float64) (f, df float64) {
	s := special.Sigmoid(x)
	return s, s * special.Sigmoid(-x)
}

func tanh(_, x float64) (f, df float64) {
	_, d := sigmoid(0, 2*x)
	return math.Tanh(x), 4 * d
}

func erf(_, x float64) (f, df float64) {
	return math.Erf(x), 2 / math.SqrtPi * math.Exp(-x*x)
}

func normalCDF(_, x float64) (f, df float64) {
	return special.CDF(x), special.PDF(x)
}

func normalInverse(_, t float64) (f, df float64) {
	f, df, _ = special.NormalInverseJet(t)
	return f, df
}

func exp(_, x float64) (f, df float64) {
	e := math.Exp(x)
	return e, e
}

func sin(_, x float64) (f, df float64) { return math.Sincos(x) }

func cos(_, x float64) (f, df float64) {
	s, c := math.Sincos(x)
	return c, -s
}

func square(_, x float64) (f, df float64) { return x * x, 2 * x }
