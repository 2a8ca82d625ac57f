package suggest

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"utvi/predict"
)

// A Goal is what rows are measured for.
type Goal string

// The goals.
const (
	Learn Goal = "learn" // to know the target everywhere among the candidates
	Min   Goal = "min"   // to find a small target
	Max   Goal = "max"   // to find a large target
	Near  Goal = "near"  // to find a target near Config.At
)

// A Config says which rows are wanted.
type Config struct {
	Goal   Goal
	At     float64 // of Near
	Target string  // "": the first; Learn learns all targets then
	Count  int     // rows to suggest; 0: 1
	Best   float64 // the best value known, of Min, Max and Near; NaN: the best predicted of the rows that the model remembers
	Draws  int     // networks to draw; 0: 256
	Seed   uint64

	Require []Requirement
	Sure    float64 // the least probability that a row meets them all
}

// A Requirement is that a target lies above or below a number.
type Requirement struct {
	Target string
	Above  bool
	At     float64
}

// A Suggestion is a row to measure.
type Suggestion struct {
	Row      int // of the candidates
	Mean     float64
	Std      float64 // of what will be measured
	Doubt    float64 // the part of Std that the model does not know
	Gain     float64 // see the package; of Learn, the share of the variance of all candidates that goes
	Cost     float64
	Chance   float64 // that the value is better than the best known; NaN for Learn
	Fulfils  float64 // the probability that it meets the requirements
	OOD      float64
	Why      string
	Expected float64 // improvement on the best known, alone; NaN for Learn
}

func (c Config) complete() Config {
	if c.Count == 0 {
		c.Count = 1
	}
	if c.Draws == 0 {
		c.Draws = 256
	}
	return c
}

// Check reports a configuration that a model cannot follow.
func (c Config) Check(m *predict.Model) error {
	c = c.complete()
	names := m.Targets()
	switch {
	case !slices.Contains([]Goal{Learn, Min, Max, Near}, c.Goal):
		return fmt.Errorf("unknown goal %q; choose learn, min, max or near", string(c.Goal))
	case c.Count < 1 || c.Count > 10_000:
		return fmt.Errorf("%d rows are asked for; the number must be 1 to 10000", c.Count)
	case c.Draws < 16 || c.Draws > 10_000:
		return fmt.Errorf("%d networks are to be drawn; the number must be 16 to 10000", c.Draws)
	case c.Goal == Near && (math.IsNaN(c.At) || math.IsInf(c.At, 0)):
		return errors.New("the value to come near to must be a finite number")
	case c.Target != "" && !slices.Contains(names, c.Target):
		return fmt.Errorf("the model has no target %s; it predicts %v", c.Target, names)
	case m.Classes() != nil && c.Goal != Learn:
		return fmt.Errorf("the goal %s asks for a number; the model predicts classes, about which it can only learn", c.Goal)
	case m.Counts():
		return errors.New("the model predicts counts, of which no joint draws are made; fit with --noise heteroscedastic to be told what to measure")
	case !(c.Sure >= 0 && c.Sure < 1):
		return fmt.Errorf("the least probability is %v; it must be 0 or more and below 1", c.Sure)
	}
	for _, r := range c.Require {
		if !slices.Contains(names, r.Target) || m.Classes() != nil {
			return fmt.Errorf("a requirement is about %s; the model predicts the numbers %v", r.Target, names)
		}
		if math.IsNaN(r.At) || math.IsInf(r.At, 0) {
			return fmt.Errorf("the bound of %s is not a finite number", r.Target)
		}
	}
	return nil
}
