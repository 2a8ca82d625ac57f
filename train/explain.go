package train

import (
	"fmt"

	"utvi/internal/compute"
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

// A NotFiniteError says that training met a number that is not finite: it
// diverged, or the data are to blame. The parameters are those of the last good
// step.
type NotFiniteError struct {
	Step int // that could not be made
	Err  error
}

func (e *NotFiniteError) Error() string { return fmt.Sprintf("train: step %d: %v", e.Step, e.Err) }
func (e *NotFiniteError) Unwrap() error { return e.Err }

// explain names where a number that is not finite came from.
func (t *Trainer) explain(s Step, what string) error {
	return &NotFiniteError{s.Step, t.culprit(what)}
}

func (t *Trainer) culprit(what string) error {
	if err := t.params.CheckFinite(); err != nil {
		return err
	}
	for i := range t.blocks {
		t.doBlock(0, i)
		if name := nn.NotFinite(t.lanes[0].runner); name != "" {
			return fmt.Errorf("the output of layer %s is not finite", name)
		}
		if err := t.unscored(i); err != nil {
			return err
		}
	}
	if err := t.params.CheckGrads(); err != nil {
		return fmt.Errorf("%w; scale the targets to about 1, or lower the learning rate", err)
	}
	return fmt.Errorf("%s is not finite; check the targets and the learning rate", what)
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
