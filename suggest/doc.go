// Package suggest says which rows to measure next: those that teach a model most (Learn), or
// that are expected to improve on the best known (Min, Max, Near).
//
// The function that a model believes in is uncertain, and its values at several rows together.
// Networks are drawn from the ensemble and their weights, and each is carried through all
// candidates: values of one draw belong together, so rows that would say the same are not
// suggested side by side.
//
// With draws f_s, the rows of a batch are picked one by one. Min picks the row with the largest
// expected improvement on the best value known and on all rows picked before,
//
//	gain(x) = E max(0, min(best, f(x₁), …) − f(x)) ,
//
// and Max and Near likewise, with −f and |f − goal|. Learn picks the row whose measurement lowers
// the variance of f at all candidates most. With k the covariances of the draws and τ² the noise,
//
//	gain(x) = Σ_j k(j,x)² / (k(x,x) + τ²(x)) ,  and then  k(i,j) ← k(i,j) − k(i,x)·k(j,x)/(k(x,x) + τ²(x)) .
//
// Gains are divided by the cost of a row, and multiplied by the probability that it meets all
// requirements.
package suggest
