// Package widths corrects how wide the predictions of networks are, as fits of tables learn it from rows
// held out.
package widths

import (
	"errors"
	"math"
)

// A Target is the correction of the variance v that each network predicts for a target. Apart is
// how many times the variance of the networks' means is added to v before all else: networks that were
// trained with the same rows are more alike than the functions that these rows allow. Level
// changes v itself; Scale multiplies what v contributes to the variance of the mixture, but not what
// the networks disagree about. Support comes last.
type Target struct {
	Apart   float32
	Plain   []float32 // is filled with the variance due to the weights without Apart, of all targets, row by row; nil: not asked for
	Scale   float32
	Level   *Level
	Support *Support
}

// A Level changes how much variances differ between rows: v becomes v·v^−Power·e^(−Tilt·m),
// where m is the predicted mean, and then what the Curve makes of it. Outside the range of v
// and m that it was fitted to, the factor is that of the nearest end.
type Level struct {
	Power float64 `json:"power"`
	Least float64 `json:"least"` // of v
	Most  float64 `json:"most"`

	Tilt float64 `json:"tilt,omitempty"`
	Low  float64 `json:"low,omitempty"` // of m
	High float64 `json:"high,omitempty"`

	Curve *Curve `json:"curve,omitempty"` // nil: there is none
}

// A Curve multiplies a variance v by a factor that depends on x = ln v + Along·m. The
// logarithm of the factor is linear between the knots, and constant outside.
type Curve struct {
	Along float64   `json:"along,omitempty"` // what m counts for
	At    []float64 `json:"at"`              // the knots, rising
	Log   []float64 `json:"log"`             // ln of the factor at each
}

// Between returns the knot before x and the weight of the knot after it.
func (c *Curve) Between(x float64) (knot int, weight float64) {
	last := len(c.At) - 2
	for knot < last && x > c.At[knot+1] {
		knot++
	}
	from, to := c.At[knot], c.At[knot+1]
	return knot, (min(max(x, from), to) - from) / (to - from)
}

// LogFactor is the logarithm of what a variance is multiplied by whose logarithm is given.
func (c *Curve) LogFactor(m, logv float64) float64 {
	i, w := c.Between(logv + c.Along*m)
	return (1-w)*c.Log[i] + w*c.Log[i+1]
}

// factor is what v is multiplied by.
func (c *Curve) factor(m, v float64) float64 { return math.Exp(c.LogFactor(m, math.Log(v))) }

// Factor is what v is multiplied by; 1 for a nil Level.
func (l *Level) Factor(m, v float64) float64 {
	if l == nil {
		return 1
	}
	f := math.Pow(min(max(v, l.Least), l.Most), -l.Power)
	if l.Tilt != 0 {
		f *= math.Exp(-l.Tilt * min(max(m, l.Low), l.High))
	}
	if l.Curve != nil {
		f *= l.Curve.factor(m, v*f)
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
	return l.Curve.Check()
}

// Check reports a Curve that is not one; nil is one.
func (c *Curve) Check() error {
	if c == nil {
		return nil
	}
	good := len(c.At) >= 2 && len(c.At) == len(c.Log) && c.Along-c.Along == 0
	for i := range c.At {
		good = good && c.At[i]-c.At[i] == 0 && math.Abs(c.Log[i]) < 50 && (i == 0 || c.At[i-1] < c.At[i])
	}
	if !good {
		return errors.New("the curve of the variances needs two or more rising knots, each with the logarithm of a factor")
	}
	return nil
}
