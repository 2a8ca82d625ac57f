package kernel

import "utvi/internal/compute/internal/cpu"

// A kernel computes f[i] = op(x[i]) and, if df is not nil, df[i] = op'(x[i]).
// All slices have the length of x; f or df may be x itself.
type kernel func(a float32, x, f, df []float32)

// Eval computes f[i] = op(x[i]) and, if df is not nil, df[i] = op'(x[i]); a is
// the parameter of those ops that take one. f or df may be x itself, but not
// each other. The bits of an element depend on its x and a alone.
//
// Values keep these bounds:
//
//	Identity, LeakyReLU, Square   correctly rounded
//	Exp                           2 units in the last place
//	all others                    1e-6 relative
//
// Slopes keep 1e-6 relative too, except near a zero that they pass through away
// from x = 0 (SiLU at −1.28, GELU at −0.75): 2e-7 absolute there. Where a
// result is below the smallest normal float32 the bound is one unit of the last
// subnormal place, 1.4e-45; nothing is flushed before. NaN yields NaN in both.
// The slope at the kink of LeakyReLU and ELU is that of the left side.
//
// The vector kernels leave Sin and Cos beyond |x| = 65536 and NormalInverse
// beyond 128 to scalar code, element by element.
func Eval(op Op, a float32, x, f, df []float32) {
	if op == OpUser || op >= NumOps {
		panic("compute: Eval of an unnamed function")
	}
	if len(f) != len(x) || df != nil && len(df) != len(x) {
		panic("compute: slice lengths differ")
	}
	switch {
	case len(x) == 0:
	case cpu.Vector:
		vectorKernels[op](a, x, f, df)
	default:
		goKernels[op](a, x, f, df)
	}
}

// goKernels are the kernels of every platform without vector code.
var goKernels = func() (all [NumOps]kernel) {
	for op, f := range functions {
		if f.twin != nil {
			all[op] = each(f.twin)
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
