package quad

import (
	"math"

	"utvi/internal/special"
	"utvi/moment"
)

// An Atom is a single value with a probability: what a flat stretch of a
// function leaves of a density.
type Atom struct{ At, Mass float64 }

// Density computes the distribution of y = f(x), x ~ N(mean, sd²), by change of
// variables: the input is cut into fine cells, within each f is taken as linear,
// and a cell's probability is spread evenly over the values it reaches. The
// density is averaged over len(density) equal bins of [lo, hi].
func Density(f *moment.Func, mean, sd, lo, hi float64, density []float64) []Atom {
	const (
		cells = 1 << 16
		reach = 8.5
	)
	width := (hi - lo) / float64(len(density))
	spread := func(a, b, mass float64) {
		if a > b {
			a, b = b, a
		}
		first, last := math.Floor((a-lo)/width), math.Floor((b-lo)/width)
		for k := max(0, first); k <= min(last, float64(len(density)-1)); k++ {
			share := 1.0
			if b > a {
				share = (min(b, lo+(k+1)*width) - max(a, lo+k*width)) / (b - a)
			}
			density[int(k)] += mass * share / width
		}
	}
	var atoms []Atom
	u0, y0 := -reach, f.F(mean-reach*sd)
	for i := 1; i <= cells; i++ {
		u1 := -reach + 2*reach*float64(i)/cells
		y1 := f.F(mean + u1*sd)
		mass := special.CDFSlice(u0, u1-u0)
		switch n := len(atoms); {
		case y1 == y0 && n > 0 && atoms[n-1].At == y0:
			atoms[n-1].Mass += mass
		case y1 == y0:
			atoms = append(atoms, Atom{y0, mass})
		case !math.IsInf(y0, 0) && !math.IsInf(y1, 0):
			spread(y0, y1, mass)
		}
		u0, y0 = u1, y1
	}
	var kept []Atom
	for _, a := range atoms {
		if a.Mass >= 1e-3 {
			kept = append(kept, a)
		} else {
			spread(a.At, a.At, a.Mass)
		}
	}
	return kept
}
