package vi

import (
	"fmt"

	"utvi/internal/compute"
)

// EmpiricalBayes fits the prior to the weights: the prior variance s of each random
// tensor is set to the value that minimises the loss, under an inverse-gamma
// hyperprior with shape α and scale β that keeps small tensors from collapsing (Wu et
// al. 2019). For n weights, −ln p(s) + KL is smallest at
//
//	s = (Σ(σ² + (μ−μ₀)²) + 2β) / (n + 2α + 2)
//
// The mean μ₀ of the prior stays. The zero value means α = 4 and β = 5, as if every
// tensor had ten more weights of size 1: a single bias keeps its N(0, 1), and a matrix
// follows its data.
type EmpiricalBayes struct {
	Alpha, Beta float64 // both 0 mean 4 and 5
	Every       int     // steps between updates; 0 means 1
}

func (e EmpiricalBayes) orDefault() EmpiricalBayes {
	if e.Alpha == 0 && e.Beta == 0 {
		e.Alpha, e.Beta = 4, 5
	}
	if e.Every == 0 {
		e.Every = 1
	}
	return e
}

// String describes the settings. A training that is continued must have the same.
func (e EmpiricalBayes) String() string {
	e = e.orDefault()
	return fmt.Sprintf("empirical-bayes(%v,%v)/%d", e.Alpha, e.Beta, e.Every)
}

// Check reports invalid settings.
func (e EmpiricalBayes) Check() error {
	d := e.orDefault()
	switch {
	case !(d.Alpha >= 0) || !(d.Beta > 0) || !compute.Finite(d.Alpha, d.Beta):
		return fmt.Errorf("prior: the hyperprior has α = %v and β = %v; α must be ≥ 0 and β > 0, both finite", e.Alpha, e.Beta)
	case d.Every < 1:
		return fmt.Errorf("prior: an update every %d steps; the interval must be at least 1", e.Every)
	}
	return nil
}

// Due reports whether the priors are updated before the given step. Steps count from
// 1.
func (e EmpiricalBayes) Due(step int) bool { return (step-1)%e.orDefault().Every == 0 }

// Variance returns the prior variance of n weights with Σ(σ² + (μ−μ₀)²) = sum.
func (e EmpiricalBayes) Variance(n int, sum float64) float64 {
	e = e.orDefault()
	return (sum + 2*e.Beta) / (float64(n) + 2*e.Alpha + 2)
}
