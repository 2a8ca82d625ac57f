package moment

import (
	"math"

	"utvi/gauss"
	"utvi/internal/compute/kernel"
	"utvi/internal/expr"
)

// A Func is an elementwise nonlinearity. Only F is required: to use any Go function,
// write &moment.Func{F: f}.
type Func struct {
	// Name identifies the function in messages and in model files. A function without
	// a name cannot be saved.
	Name string

	// F is the function, DF its first and D2F its second derivative. If DF is nil,
	// central differences are used. D2F is used in the limit of vanishing variance and
	// by the linearised rule.
	F, DF, D2F func(x float64) float64

	// Kinks are the points where the slope jumps. Quadrature splits there, and the
	// Taylor limit is not used across a kink.
	Kinks []float64

	// Exact returns the moments of F(x), x ~ N(mean, variance), in closed form with
	// their derivatives; nil if none is known.
	Exact func(mean, variance float64) Jet

	// Op, with its parameter A, is set if the function has a vector kernel, which
	// float32 uses in place of F. Whoever changes F must set Op to 0.
	Op kernel.Op
	A  float64

	// Formula is set if the function is a formula that has no kernel. float32 runs its
	// program in place of F. Its learned parameters, if any, belong to the layer; F
	// uses their starting values. Whoever changes F must set Formula to nil.
	Formula *expr.Formula
}

// A Jet holds the mean and the variance of a function of a Gaussian, and their
// derivatives with respect to the Gaussian's mean and variance.
type Jet struct {
	Mean, Var               float64
	MeanByMean, MeanByVar   float64
	VarByMean, VarByVar     float64
	MeanByKappa, VarByKappa float64
}

// Slope returns DF(x), or central differences if DF is nil.
func (f *Func) Slope(x float64) float64 {
	if f.DF != nil {
		return f.DF(x)
	}
	lo, hi := around(x)
	return (f.F(hi) - f.F(lo)) / (hi - lo)
}

// around returns the two points of a central difference at x. Their distance
// weighs the rounding of the values against the third derivative: it goes with
// the cube root of the rounding unit.
func around(x float64) (lo, hi float64) {
	h := 6.1e-6 * (1 + math.Abs(x))
	return x - h, x + h
}

// Curvature returns D2F(x), or central differences of the slope if D2F is nil.
func (f *Func) Curvature(x float64) float64 {
	if f.D2F != nil {
		return f.D2F(x)
	}
	if f.DF == nil {
		h := 1.2e-4 * (1 + math.Abs(x)) // fourth root: F is differenced twice
		return (f.F(x+h) - 2*f.F(x) + f.F(x-h)) / (h * h)
	}
	lo, hi := around(x)
	return (f.DF(hi) - f.DF(lo)) / (hi - lo)
}

// smoothWithin reports whether no kink lies within r of x.
func (f *Func) smoothWithin(x, r float64) bool {
	for _, k := range f.Kinks {
		if math.Abs(x-k) <= r {
			return false
		}
	}
	return true
}

// Eval evaluates f, and its slope if dy is not nil, at the numbers x. y may be x.
// Parameters of a formula have their starting values. In float32, a formula needs
// scratch, which Eval allocates; a Tile has its own.
func Eval[T gauss.Float](f *Func, x, y, dy []T) {
	if x, ok := any(x).([]float32); ok && f.Op != kernel.OpUser {
		kernel.Eval(f.Op, float32(f.A), x, any(y).([]float32), any(dy).([]float32))
		return
	}
	if _, ok := any(x).([]float32); ok && f.Formula != nil && len(x) > 0 {
		evalFormula(f, x, y, dy)
		return
	}
	if dy != nil { // first: y may be x
		for i, x := range x {
			dy[i] = T(f.Slope(float64(x)))
		}
	}
	for i, x := range x {
		y[i] = T(f.F(float64(x)))
	}
}

func evalFormula[T gauss.Float](f *Func, x, y, dy []T) {
	t := &Tile[T]{F: f, Mean: x, formula: newFormulaTile[T](f.Formula, UT(2), len(x), 0)}
	t.Eval(x, y, dy)
}
