package train

import (
	"fmt"

	"utvi/compute"
	"utvi/nn"
)

// checkSchedules refuses a rate or a weight that would break the parameters.
func checkSchedules(s Step) error {
	if !(s.Rate >= 0) || !compute.Finite(s.Rate) {
		return fmt.Errorf("train: step %d: the learning rate is %v; it must be a finite number ≥ 0", s.Step, s.Rate)
	}
	if !(s.Weight >= 0) || !compute.Finite(s.Weight) {
		return fmt.Errorf("train: step %d: the weight of the KL is %v; it must be a finite number ≥ 0", s.Step, s.Weight)
	}
	return nil
}

// explain names where a number that is not finite came from.
func (t *Trainer) explain(s Step, what string) error {
	if err := t.params.CheckFinite(); err != nil {
		return fmt.Errorf("train: step %d: %w", s.Step, err)
	}
	for i := range t.blocks {
		t.doBlock(0, i)
		if name := nn.NotFinite(t.lanes[0].runner); name != "" {
			return fmt.Errorf("train: step %d: the output of layer %s is not finite", s.Step, name)
		}
		if err := t.unscored(i); err != nil {
			return fmt.Errorf("train: step %d: %w", s.Step, err)
		}
	}
	if err := t.params.CheckGrads(); err != nil {
		return fmt.Errorf("train: step %d: %w; scale the targets to about 1, or lower the learning rate", s.Step, err)
	}
	return fmt.Errorf("train: step %d: %s is not finite; check the targets and the learning rate", s.Step, what)
}

// unscored names the targets of the first row of a block, just done, that the
// likelihood has no score for.
func (t *Trainer) unscored(block int) error {
	k, lo := t.config.Data.Targets(), block*t.block
	for i := range t.blocks[block].Rows {
		if !compute.Finite(t.nll[lo+i]) {
			return fmt.Errorf("likelihood %v has no score for the targets %v of a row, with %d outputs", t.config.Likelihood, t.lanes[0].y[i*k:(i+1)*k], t.net.Outputs())
		}
	}
	return nil
}
