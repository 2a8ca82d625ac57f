// Package expr reads formulas of one variable x, such as "x / (1 + x^2)" or
// "a*tanh(b*x)", differentiates them, finds their kinks, and compiles them to
// programs that run on vectors (bytecode.Program).
//
// # Grammar
//
//	numbers        2, 0.5, 1e-3, pi, e
//	the variable   x; every other name is a parameter
//	operators      + - * / ^ and parentheses; -x^2 is -(x^2), 2^3^2 is 2^(3^2)
//	comparisons    < <= > >= == !=, which give 1 or 0
//	choices        where(condition, a, b), min(a, b, …), max(a, b, …), clip(a, low, high)
//	functions      see Functions
//
// # Simplification
//
// Nodes are simplified as they are made, mostly so that a formula stays accurate:
// log(1+exp(u)) is softplus(u), 1/(1+exp(-u)) is sigmoid(u), exp(u)-1 is expm1(u),
// 1-sigmoid(u) is sigmoid(-u), 1+erf(u) is 2·normal_cdf(√2·u). Constants are folded,
// and zero times anything is zero.
//
// # Derivatives
//
// Derivatives are expressions, too. Slopes such as tanh′ are separate functions there:
// they are accurate in the tails, and a vector kernel computes them together with the
// value. At a kink, the slope is that of the left side.
package expr
