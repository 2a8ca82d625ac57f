package likelihoodtest

import (
	"math"
	"slices"
	"testing"

	"utvi/internal/quad"
)

// expect integrates g over independent Normals of the row's means and the given
// variances, within ±9 σ. A single output that varies is integrated adaptively;
// several are integrated by the trapezoidal rule, or, where they have kinks, by
// Gauss–Kronrod sums between those. Three outputs and more are integrated within
// ±7.5 σ, by coarser rules.
func (c Case) expect(t testing.TB, r Row, variance []float64, g func(f []float64) float64) float64 {
	t.Helper()
	e := integral{c: c, r: r, sd: make([]float64, len(variance)), f: slices.Clone(r.Mean), g: g}
	for i, v := range variance {
		e.sd[i] = math.Sqrt(v)
		if v > 0 {
			e.dims++
		}
	}
	sum := e.over(0)
	if e.err != nil {
		t.Fatalf("%+v: the integral that defines the score %v", r, e.err)
	}
	return sum
}

type integral struct {
	c    Case
	r    Row
	sd   []float64
	f    []float64 // the point
	g    func(f []float64) float64
	dims int // outputs that vary
	err  error
}

// over integrates over outputs i and up, those before it being fixed.
func (e *integral) over(i int) float64 {
	if i == len(e.f) {
		return e.g(e.f)
	}
	if e.sd[i] == 0 {
		e.f[i] = e.r.Mean[i]
		return e.over(i + 1)
	}
	at := func(u float64) float64 {
		e.f[i] = e.r.Mean[i] + e.sd[i]*u
		return math.Exp(-u*u/2) / math.Sqrt(2*math.Pi) * e.over(i+1)
	}
	var kinks []float64
	if e.c.Kinks != nil {
		kinks = e.c.Kinks(e.r, i, e.f)
	}
	switch {
	case e.dims == 1:
		sum, err := quad.Integrate(e.cuts(i, 9, 1, kinks), at)
		if err != nil {
			e.err = err
		}
		return sum
	case len(kinks) == 0:
		return e.trapezoidal(at)
	case e.dims == 2:
		return panels(e.cuts(i, 9, 1, kinks), at)
	}
	return panels(e.cuts(i, 7.5, 2.5, kinks), at)
}

// cuts are steps from −reach to reach, and the kinks of output i, in its σ.
func (e *integral) cuts(i int, reach, step float64, kinks []float64) []float64 {
	var cuts []float64
	for u := -reach; u <= reach; u += step {
		cuts = append(cuts, u)
	}
	for _, k := range kinks {
		if u := (k - e.r.Mean[i]) / e.sd[i]; math.Abs(u) < reach {
			cuts = append(cuts, u)
		}
	}
	slices.Sort(cuts)
	return slices.Compact(cuts)
}

func (e *integral) trapezoidal(at func(u float64) float64) (sum float64) {
	step, n := 1.0/8, 72
	if e.dims > 2 {
		step, n = 0.5, 15
	}
	for k := -n; k <= n; k++ {
		sum += step * at(step*float64(k))
	}
	return sum
}

func panels(cuts []float64, at func(u float64) float64) (sum float64) {
	for i := range len(cuts) - 1 {
		sum += quad.Kronrod(at, cuts[i], cuts[i+1])
	}
	return sum
}
