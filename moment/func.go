package moment

import "utvi/compute"

// A Func is an elementwise nonlinearity. Only F is required: a user's black box
// is a literal, &moment.Func{F: f}.
type Func struct {
	// Name identifies the function in messages and in saved models; a function
	// without one cannot be saved.
	Name string

	// F is the function, DF its first and D2F its second derivative. A nil DF
	// is replaced by central differences. D2F serves the limit of vanishing
	// variance and the linearised rule.
	F, DF, D2F func(x float64) float64

	// Kinks are the points where the slope jumps. Quadrature splits there, and
	// no Taylor limit is taken across one.
	Kinks []float64

	// Exact returns the moments of F(x), x ~ N(mean, variance), in closed form
	// with their derivatives; nil where none is known.
	Exact func(mean, variance float64) Jet

	// Op, with its parameter A, is set on functions that have a vector kernel.
	Op compute.Op
	A  float64
}

// A Jet holds the mean and the variance of a function of a Gaussian, and their
// derivatives with respect to the Gaussian's mean and variance.
type Jet struct {
	Mean, Var               float64
	MeanByMean, MeanByVar   float64
	VarByMean, VarByVar     float64
	MeanByKappa, VarByKappa float64
}
