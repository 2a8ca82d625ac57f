// Package special holds the functions of the Normal and the logistic
// distribution in forms that keep their relative accuracy in the tails.
//
// Unless a function says otherwise its relative error is below 1e-14 wherever
// the result is a normal float64; the tests measure it against high-precision
// references. NaN in, NaN out. Nothing here panics.
package special
