package vi

import (
	"fmt"

	"utvi/internal/compute"
)

// A Prior is the Normal towards which the KL pulls the weights of a tensor. The zero
// value means N(0, 1).
type Prior struct {
	Mean float64 `json:"mean"`
	Std  float64 `json:"std"`
}

// OrStandard returns p, or N(0, 1) for the zero value.
func (p Prior) OrStandard() Prior {
	if p == (Prior{}) {
		return Prior{0, 1}
	}
	return p
}

// Check reports a mean that is not finite, or a standard deviation that is not > 0.
func (p Prior) Check() error {
	if !(p.Std > 0) || !compute.Finite(p.Mean, p.Std) {
		return fmt.Errorf("the prior is N(%v, %v²); its mean must be finite and its standard deviation > 0", p.Mean, p.Std)
	}
	return nil
}
