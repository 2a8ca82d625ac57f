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

// A Level changes how much variances differ between rows: v becomes v·v^−Power·e^(−Tilt·m),
// where m is the predicted mean. Outside the range of v and m that it was fitted to, the
// factor is that of the nearest end.
type Level struct {
	Power float64 `json:"power"`
	Least float64 `json:"least"` // of v
	Most  float64 `json:"most"`

	Tilt float64 `json:"tilt,omitempty"`
	Low  float64 `json:"low,omitempty"` // of m
	High float64 `json:"high,omitempty"`
}

// Factor is what v is multiplied by; 1 for a nil Level.
func (l *Level) Factor(m, v float64) float64 {
	if l == nil {
		return 1
	}
	f := math.Pow(min(max(v, l.Least), l.Most), -l.Power)
	if l.Tilt != 0 {
		f *= math.Exp(-l.Tilt * min(max(m, l.Low), l.High))
	}
	return f
}

// Check reports a Level that is not one.
func (l *Level) Check() error {
	switch {
	case l == nil:
		return nil
	case !(math.Abs(l.Power) < 1 && l.Least > 0 && l.Least <= l.Most && !math.IsInf(l.Most, 0)):
		return errors.New("the level of the variances needs a power between −1 and 1, and a range above 0")
	case !(math.Abs(l.Tilt) < 1 && l.Low <= l.High && !math.IsInf(l.Low, 0) && !math.IsInf(l.High, 0)):
		return errors.New("the level of the variances needs a tilt between −1 and 1, and a finite range of means")
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
