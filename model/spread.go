package model

import (
	"errors"
	"math"
)

// A Spread corrects the variance v that each network predicts for a target. Level changes v
// itself; Scale multiplies what v contributes to the variance of the mixture, but not what
// the networks disagree about.
type Spread struct {
	Scale float32
	Level *Level
}

// A Level changes how much variances differ between rows: v becomes v·v^−Power. Below Least
// and above Most, the smallest and the largest v that Power was fitted to, the factor is
// that of Least and Most.
type Level struct {
	Power float64 `json:"power"`
	Least float64 `json:"least"`
	Most  float64 `json:"most"`
}

// Factor is what v is multiplied by; 1 for a nil Level.
func (l *Level) Factor(v float64) float64 {
	if l == nil {
		return 1
	}
	return math.Pow(min(max(v, l.Least), l.Most), -l.Power)
}

// Check reports a Level that is not one.
func (l *Level) Check() error {
	if l != nil && !(math.Abs(l.Power) < 1 && l.Least > 0 && l.Least <= l.Most && !math.IsInf(l.Most, 0)) {
		return errors.New("the level of the variances needs a power between −1 and 1, and a range above 0")
	}
	return nil
}

// level is the level of a target, or nil.
func (h *Head) level(target int) *Level {
	if h.spread == nil {
		return nil
	}
	return h.spread[target].Level
}
