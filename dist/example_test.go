package dist_test

import (
	"fmt"

	"utvi/dist"
)

func ExampleNormal() {
	d := dist.Normal{Mu: 20, Sigma: 2}
	lo, hi := dist.Interval(d, 0.9)
	fmt.Printf("90 %% between %.2f and %.2f; CRPS of 23: %.3f\n", lo, hi, d.CRPS(23))
	// Output: 90 % between 16.71 and 23.29; CRPS of 23: 1.989
}

// Two networks that disagree are less sure than either.
func ExampleMixture() {
	var m dist.Mixture
	m.Add(1, 1.0, 0.5)
	m.Add(1, 2.0, 0.5)
	fmt.Printf("%.2f ± %.2f\n", m.Mean(), m.SD())
	// Output: 1.50 ± 0.71
}

// A network that predicts its own noise, and is not sure of it, has heavier tails
// than a Normal of the same variance.
func ExampleMixture_AddLogNormal() {
	var m dist.Mixture
	m.AddLogNormal(1, 0, 0.1, -0.5, 1, 1e-6)
	n := dist.Normal{Mu: m.Mean(), Sigma: m.SD()}
	fmt.Printf("beyond four deviations: %.1e, as a Normal %.1e\n", m.CDF(-4*m.SD()), n.CDF(-4*m.SD()))
	// Output: beyond four deviations: 2.1e-03, as a Normal 3.2e-05
}

// A prediction for a standardised target, back in its unit.
func ExampleAffine() {
	d := dist.Affine{Dist: dist.Normal{Mu: 0.5, Sigma: 0.1}, Scale: 10, Shift: 300}
	fmt.Printf("%g ± %g\n", d.Mean(), d.SD())
	// Output: 305 ± 1
}
