package vi

import (
	"fmt"

	"utvi/internal/compute"
	"utvi/internal/special"
)

// An Init says how the weights of a random tensor start: ρ is uniform in [RhoMin,
// RhoMax]. The zero value means ρ ~ U(−8, −2), as in the code of the paper's author.
// Means start uniform in ±1/√fan-in.
type Init struct {
	RhoMin, RhoMax float64
}

// Std returns an Init with which every weight starts at the given standard deviation.
func Std(sigma float64) Init {
	r := special.SoftplusInverse(sigma)
	return Init{r, r}
}

// Check reports bounds of ρ that are not finite or not in order.
func (i Init) Check() error {
	if !(i.RhoMin <= i.RhoMax) || !compute.Finite(i.RhoMin, i.RhoMax) {
		return fmt.Errorf("ρ starts between %v and %v; both must be finite, the smaller one first (vi.Std takes a number > 0)", i.RhoMin, i.RhoMax)
	}
	return nil
}

func (i Init) orDefault() Init {
	if i == (Init{}) {
		return Init{-8, -2}
	}
	return i
}
