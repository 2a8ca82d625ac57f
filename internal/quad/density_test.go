package quad_test

import (
	"math"
	"testing"

	"utvi/fn"
	"utvi/internal/quad"
	"utvi/internal/special"
)

// The density must hold all probability, and the moments that quadrature finds.
func TestDensity(t *testing.T) {
	const lo, hi, bins = -3.0, 9.0, 4800
	for _, name := range []string{"tanh", "relu", "leaky-relu(0.1)", "sin", "abs", "softplus"} {
		f, err := fn.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		const m, v = 0.4, 0.7
		density := make([]float64, bins)
		atoms := quad.Density(f, m, math.Sqrt(v), lo, hi, density)
		var mass, mean, square float64
		add := func(y, p float64) {
			mass = mass + p
			mean = mean + y*p
			square = square + y*y*p
		}
		for i, d := range density {
			add(lo+(float64(i)+0.5)*(hi-lo)/bins, d*(hi-lo)/bins)
		}
		for _, a := range atoms {
			add(a.At, a.Mass)
		}
		em, ev, err := quad.Moments(f, m, v)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(mass-1) > 1e-9 || math.Abs(mean-em) > 1e-4 || math.Abs(square-mean*mean-ev) > 1e-3 {
			t.Errorf("%s: mass %.10f, mean %g, variance %g; want 1, %g, %g", name, mass, mean, square-mean*mean, em, ev)
		}
		if wantAtom := name == "relu"; wantAtom != (len(atoms) == 1) {
			t.Errorf("%s has atoms %v", name, atoms)
		} else if wantAtom && math.Abs(atoms[0].Mass-special.CDF(-m/math.Sqrt(v))) > 1e-3 {
			t.Errorf("%s: the atom has probability %g", name, atoms[0].Mass)
		}
	}
}

func TestDensityOfTanh(t *testing.T) {
	const lo, hi, bins = -1.0, 1.0, 2000
	density := make([]float64, bins)
	quad.Density(fn.Tanh(), 0.3, 0.8, lo, hi, density)
	for _, i := range []int{300, 1000, 1700} {
		y := lo + (float64(i)+0.5)*(hi-lo)/bins
		want := special.PDF((math.Atanh(y)-0.3)/0.8) / 0.8 / (1 - y*y)
		if math.Abs(density[i]-want) > 1e-4*want {
			t.Errorf("density at %g is %g, want %g", y, density[i], want)
		}
	}
}
