package vi

import (
	"fmt"

	"utvi/internal/compute"
)

// A Prior is the Normal that the weights of a tensor are drawn towards. Where one
// is asked for, the zero value stands for N(0, 1).
type Prior struct {
	Mean float64 `json:"mean"`
	Std  float64 `json:"std"`
}

// OrStandard is p, or N(0, 1) for the zero value.
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
