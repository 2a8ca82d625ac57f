// Package quad computes the moments of a function of a Gaussian by adaptive
// quadrature: slow, independent of every rule and closed form, and therefore
// what they are checked against.
package quad

import (
	"fmt"
	"math"
	"slices"

	"utvi/moment"
	"utvi/special"
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
	if !finite(mean) || !finite(variance) || variance < 0 {
		return 0, 0, fmt.Errorf("quad: want a finite mean and a finite variance ≥ 0, got N(%g, %g)", mean, variance)
	}
	f0 := f.F(mean)
	if variance == 0 {
		return f0, 0, nil
	}
	r := newRise(f, mean, math.Sqrt(variance))
	cuts := r.cuts()
	m, err := integrate(cuts, r.noise, func(u float64) (float64, float64) {
		p := special.PDF(u)
		return r.at(u) * p, p
	})
	if err != nil {
		return 0, 0, fmt.Errorf("quad: mean of %s over N(%g, %g) %w", f.Name, mean, variance, err)
	}
	v, err := integrate(cuts, r.noise, func(u float64) (float64, float64) {
		p := special.PDF(u)
		d := r.at(u) - m
		return d * d * p, 2 * math.Abs(d) * p
	})
	if err != nil {
		return 0, 0, fmt.Errorf("quad: variance of %s over N(%g, %g) %w", f.Name, mean, variance, err)
	}
	if !finite(f0 + m) {
		return 0, 0, fmt.Errorf("quad: mean of %s over N(%g, %g) is not finite", f.Name, mean, variance)
	}
	return f0 + m, v, nil
}

// A rise is d(u) = f(mean + σu) − f(mean).
type rise struct {
	f         *moment.Func
	mean, sd  float64
	f0        float64
	kinks     []float64 // in units of u
	fromSlope bool
	noise     float64 // rounding error of d
}

func newRise(f *moment.Func, mean, sd float64) *rise {
	r := &rise{f: f, mean: mean, sd: sd, f0: f.F(mean)}
	for _, k := range f.Kinks {
		if u := (k - mean) / sd; math.Abs(u) < reach {
			r.kinks = append(r.kinks, u)
		}
	}
	slices.Sort(r.kinks)
	// A difference of two values loses digits like ε/σ; the integral of the
	// slope does not.
	r.fromSlope = f.DF != nil && sd < 1e-2*(1+math.Abs(mean))
	if !r.fromSlope {
		const h = 1e-3
		slope := math.Abs(f.F(mean+h*sd)-f.F(mean-h*sd)) / (2 * h * sd)
		r.noise = 0x1p-50 * (math.Abs(r.f0) + math.Abs(mean)*slope)
	}
	return r
}

func (r *rise) at(u float64) float64 {
	if !r.fromSlope {
		return r.f.F(r.mean+r.sd*u) - r.f0
	}
	slope := func(s float64) float64 { return r.f.DF(r.mean + r.sd*s) }
	lo, hi := min(0, u), max(0, u)
	sum, from := 0.0, lo
	for _, k := range r.kinks {
		if lo < k && k < hi {
			sum += kronrod(slope, from, k)
			from = k
		}
	}
	return math.Copysign(r.sd, u) * (sum + kronrod(slope, from, hi))
}

// cuts are the borders of the first panels: unit steps, the kinks, and the
// places around x = 0 where functions change, in case σ is large.
func (r *rise) cuts() []float64 {
	var cuts []float64
	for u := -reach; u <= reach; u++ {
		cuts = append(cuts, float64(u))
	}
	cuts = append(cuts, r.kinks...)
	for _, x := range [...]float64{0, 1, 8, 64} {
		for _, u := range [...]float64{(x - r.mean) / r.sd, (-x - r.mean) / r.sd} {
			if math.Abs(u) < reach {
				cuts = append(cuts, u)
			}
		}
	}
	slices.Sort(cuts)
	return slices.Compact(cuts)
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
