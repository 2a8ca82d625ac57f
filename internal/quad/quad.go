// Package quad computes the moments of a function of a Gaussian by adaptive
// quadrature: slow, independent of every rule and closed form, and therefore
// what they are checked against.
package quad

import (
	"errors"
	"fmt"
	"math"

	"utvi/internal/compute"
	"utvi/internal/special"
	"utvi/moment"
)

// reach is where the Normal density leaves the range of float64. All of it is
// integrated, not only a few σ: at a mean 30σ below zero the whole mean and
// variance of a ReLU come from beyond u = 30.
const reach = 39

// Moments returns the mean and the variance of f(x), x ~ N(mean, variance). With
// d(u) = f(mean + σu) − f(mean),
//
//	M = ∫ d φ du ,   E[f] = f(mean) + M ,   Var[f] = ∫ (d − M)² φ du
//
// so that the variance keeps its relative accuracy where it is tiny: about 1e-11
// for smooth and piecewise smooth functions, at any mean and σ whose result is
// a normal float64. It fails where an integral does not converge or is not
// finite.
func Moments(f *moment.Func, mean, variance float64) (float64, float64, error) {
	if !compute.Finite(mean, variance) || variance < 0 {
		return 0, 0, fmt.Errorf("quad: want a finite mean and a finite variance ≥ 0, got N(%g, %g)", mean, variance)
	}
	f0 := f.F(mean)
	if variance == 0 {
		return f0, 0, nil
	}
	r := newRise(f, mean, math.Sqrt(variance))
	m, err := integrate(r.cuts, r.noise, func(u float64) (float64, float64) {
		p := special.PDF(u)
		return r.at(u) * p, p
	})
	if err != nil {
		return 0, 0, fmt.Errorf("quad: mean of %s over N(%g, %g) %w", f.Name, mean, variance, err)
	}
	v, err := integrate(r.cuts, r.noise, func(u float64) (float64, float64) {
		p := special.PDF(u)
		d := r.at(u) - m
		s := d * math.Sqrt(p) // a square may leave the range of float64
		return s * s, 2 * math.Abs(d) * p
	})
	if err == nil && (r.matters(-reach, m, v) || r.matters(reach, m, v)) {
		err = errors.New("comes from too far out")
	}
	if err != nil {
		return 0, 0, fmt.Errorf("quad: variance of %s over N(%g, %g) %w", f.Name, mean, variance, err)
	}
	if !compute.Finite(f0 + m) {
		return 0, 0, fmt.Errorf("quad: mean of %s over N(%g, %g) is not finite", f.Name, mean, variance)
	}
	return f0 + m, v, nil
}
