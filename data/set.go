package data

import (
	"errors"
	"fmt"

	"utvi/gauss"
	"utvi/internal/compute"
)

// A Set is rows of numbers in memory.
type Set struct {
	X       gauss.Batch[float32] // inputs; they are exact if Var is nil
	Y       []float32            // targets, row-major, Targets numbers in each row
	Targets int                  // targets of a row; 0 means 1
	Weights []float32            // one for each row; nil: all rows count the same
}

// Outputs is the number of targets in a row.
func (s Set) Outputs() int { return max(1, s.Targets) }

// Check reports rows that cannot be used for training.
func (s Set) Check() error {
	if err := s.checkSizes(); err != nil {
		return err
	}
	if err := s.checkNumbers(); err != nil {
		return err
	}
	return s.checkWeights()
}

// checkSizes reports slices that do not fit one another.
func (s Set) checkSizes() error {
	x, k := s.X, s.Outputs()
	switch {
	case x.Rows < 1 || x.Width < 1:
		return fmt.Errorf("%d rows of %d inputs; at least one of each is needed", x.Rows, x.Width)
	case len(x.Mean) != x.Rows*x.Width:
		return fmt.Errorf("%d rows of %d inputs need %d numbers, not %d", x.Rows, x.Width, x.Rows*x.Width, len(x.Mean))
	case x.Var != nil && len(x.Var) != len(x.Mean):
		return fmt.Errorf("%d inputs need %[1]d variances or none, not %[2]d", len(x.Mean), len(x.Var))
	case x.Cov != nil:
		return errors.New("the inputs have covariances; networks take inputs that are independent, with a variance each")
	case s.Targets < 0:
		return fmt.Errorf("a row has %d targets; at least 1 is needed", s.Targets)
	case len(s.Y) != x.Rows*k:
		targets := "targets"
		if k == 1 {
			targets = "target"
		}
		return fmt.Errorf("%d rows of %d %s need %d numbers, not %d", x.Rows, k, targets, x.Rows*k, len(s.Y))
	case s.Weights != nil && len(s.Weights) != x.Rows:
		return fmt.Errorf("%d rows need %[1]d weights or none, not %[2]d", x.Rows, len(s.Weights))
	}
	return nil
}

// checkNumbers reports inputs and targets that are no numbers.
func (s Set) checkNumbers() error {
	x, k := s.X, s.Outputs()
	for i, m := range x.Mean {
		if !compute.Finite(m) {
			return fmt.Errorf("input %d of row %d is %v; it must be finite", i%x.Width, i/x.Width, m)
		}
	}
	for i, v := range x.Var {
		if !(v >= 0) || !compute.Finite(v) {
			return fmt.Errorf("the variance of input %d of row %d is %v; it must be finite and ≥ 0", i%x.Width, i/x.Width, v)
		}
	}
	for i, y := range s.Y {
		if !compute.Finite(y) {
			return fmt.Errorf("target %d of row %d is %v; it must be finite", i%k, i/k, y)
		}
	}
	return nil
}

func (s Set) checkWeights() error {
	var sum float64
	for i, w := range s.Weights {
		if !(w >= 0) || !compute.Finite(w) {
			return fmt.Errorf("the weight of row %d is %v; it must be finite and ≥ 0", i, w)
		}
		sum += float64(w)
	}
	if s.Weights != nil && sum == 0 {
		return errors.New("all weights are 0; at least one must be > 0")
	}
	return nil
}
