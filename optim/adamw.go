package optim

import (
	"errors"
	"fmt"
	"math"
)

// A Decay says which parameters the decoupled weight decay changes.
type Decay int

const (
	// DecayAll decays means and ρ, as the paper does. Decay of ρ pulls σ towards ln 2,
	// which makes small variances grow in long runs.
	DecayAll Decay = iota
	// DecayMeans decays means only, not ρ.
	DecayMeans
	// DecayNone decays nothing.
	DecayNone
)

// String returns the name by which settings and checkpoints know it: all, means or none.
func (d Decay) String() string {
	return [...]string{"all", "means", "none"}[d]
}

// AdamW is the optimiser of Loshchilov & Hutter (2019). Parameters that are not
// weights, such as a learned κ or scale, are never decayed.
type AdamW struct {
	Rate         Schedule
	Beta1, Beta2 float64
	Epsilon      float64
	Decay        float64
	DecayOn      Decay
	Clip         float64 // largest gradient norm; 0: no limit
}

// Paper returns AdamW with the paper's settings: rate 0.001, β 0.9 and 0.999,
// ε 1e-8, decay 0.01 on everything.
func Paper() AdamW {
	return AdamW{Rate: Constant(1e-3), Beta1: 0.9, Beta2: 0.999, Epsilon: 1e-8, Decay: 0.01}
}

// String describes the settings, without the learning rate. Checkpoints compare it.
func (a AdamW) String() string {
	return fmt.Sprintf("adamw(β %v %v, ε %v, decay %v on %v, clip %v)", a.Beta1, a.Beta2, a.Epsilon, a.Decay, a.DecayOn, a.Clip)
}

// Check reports invalid settings.
func (a AdamW) Check() error {
	switch {
	case a.Rate == nil:
		return errors.New("optimiser: no learning rate; start from optim.Paper()")
	case !(a.Rate(1) >= 0) || math.IsInf(a.Rate(1), 0):
		return fmt.Errorf("optimiser: the learning rate of step 1 is %v; it must be a finite number ≥ 0", a.Rate(1))
	case !(a.Beta1 >= 0 && a.Beta1 < 1) || !(a.Beta2 >= 0 && a.Beta2 < 1):
		return fmt.Errorf("optimiser: β are %v and %v; both must be in [0, 1)", a.Beta1, a.Beta2)
	case !(a.Epsilon > 0):
		return fmt.Errorf("optimiser: ε is %v; it must be > 0: start from optim.Paper() and change its fields", a.Epsilon)
	case !(a.Decay >= 0) || math.IsInf(a.Decay, 0):
		return fmt.Errorf("optimiser: the weight decay is %v; it must be ≥ 0", a.Decay)
	case !(a.Clip >= 0):
		return fmt.Errorf("optimiser: the gradient norm is clipped at %v; it must be ≥ 0 (0: no limit)", a.Clip)
	case a.DecayOn < DecayAll || a.DecayOn > DecayNone:
		return fmt.Errorf("optimiser: DecayOn is %d; use DecayAll or DecayMeans", a.DecayOn)
	}
	return nil
}
