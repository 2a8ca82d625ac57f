package train

import (
	"fmt"

	"utvi/internal/compute"
)

// checkSchedules refuses a learning rate or a KL weight that would damage the
// parameters.
func checkSchedules(s Step) error {
	if !(s.Rate >= 0) || !compute.Finite(s.Rate) {
		return fmt.Errorf("train: step %d: the learning rate is %v; it must be a finite number ≥ 0", s.Step, s.Rate)
	}
	if !(s.Weight >= 0) || !compute.Finite(s.Weight) {
		return fmt.Errorf("train: step %d: the KL weight is %v; it must be a finite number ≥ 0", s.Step, s.Weight)
	}
	return nil
}

// A NotFiniteError says that a number in the training is not finite: the training
// diverged, or the data are wrong. The parameters are those of the last good step.
type NotFiniteError struct {
	Step int // the step that failed
	Err  error
}

// Error implements error.
func (e *NotFiniteError) Error() string { return fmt.Sprintf("train: step %d: %v", e.Step, e.Err) }

// Unwrap returns the explanation: where the number first appeared.
func (e *NotFiniteError) Unwrap() error { return e.Err }

// explain names where a number that is not finite came from.
func (t *Trainer) explain(s Step, what string) error {
	return &NotFiniteError{s.Step, t.program.Explain(what)}
}
