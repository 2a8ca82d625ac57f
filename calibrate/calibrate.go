// Package calibrate corrects predictive distributions by what held-out rows showed.
//
// Four corrections, each fitted on its own and each optional:
//
//   - Scale multiplies the standard deviation by one number;
//   - Levels bends the levels of the distribution function, any shape into any other;
//   - Conformal gives intervals that hold their level whatever the distribution, in
//     finite samples, for rows exchangeable with those it was fitted on;
//   - Temperature sharpens or flattens the probabilities of classes.
//
// The rows must not have been trained on, and scores are honest only on rows that were
// not calibrated on either.
package calibrate

import (
	"cmp"
	"fmt"
	"iter"
	"strings"

	"utvi/dist"
	"utvi/internal/strictjson"
)

// Rows are held-out targets and what was predicted for them. They are ranged over
// several times, and a row's distribution is not kept: it may be the same variable,
// written anew.
type Rows = iter.Seq2[float64, dist.Dist]

// A Calibration is what a model file stores for one target. Nil parts do nothing.
type Calibration struct {
	Scale       *Scale       `json:"scale,omitempty"`
	Levels      *Levels      `json:"levels,omitempty"`
	Conformal   *Conformal   `json:"conformal,omitempty"`
	Temperature *Temperature `json:"temperature,omitempty"`
}

// A Room holds one corrected distribution, so that a loop over rows allocates nothing.
// Each goroutine needs its own.
type Room struct {
	scaled dist.Affine
	bent   bent
}

// Apply returns the corrected distribution: scaled, then bent. It lives in the room
// until the next call, in memory of its own if the room is nil.
func (c *Calibration) Apply(d dist.Dist, room *Room) dist.Dist {
	if room == nil {
		room = new(Room)
	}
	if c.Scale != nil {
		room.scaled = c.Scale.apply(d)
		d = &room.scaled
	}
	if c.Levels != nil {
		room.bent.set(d, c.Levels)
		d = &room.bent
	}
	return d
}

// Interval returns the interval of a level in (0, 1) of a prediction: the conformal one
// where it was fitted, else the central one of the corrected distribution.
func (c *Calibration) Interval(d dist.Dist, level float64, room *Room) (lo, hi float64) {
	if c.Conformal != nil {
		return c.Conformal.Interval(d, level)
	}
	return dist.Interval(c.Apply(d, room), level)
}

// Corrected are the rows with their predictions corrected: levels are fitted on rows
// that were scaled already.
func (c *Calibration) Corrected(rows Rows) Rows {
	return func(yield func(float64, dist.Dist) bool) {
		var room Room
		for y, d := range rows {
			if !yield(y, c.Apply(d, &room)) {
				return
			}
		}
	}
}

// A part is one correction.
type part interface {
	String() string
	check() error
}

func (c *Calibration) parts() (p []part) {
	if c.Scale != nil {
		p = append(p, c.Scale)
	}
	if c.Levels != nil {
		p = append(p, c.Levels)
	}
	if c.Conformal != nil {
		p = append(p, c.Conformal)
	}
	if c.Temperature != nil {
		p = append(p, c.Temperature)
	}
	return p
}

// String says in one line what was fitted on how many rows.
func (c *Calibration) String() string {
	var s []string
	for _, p := range c.parts() {
		s = append(s, p.String())
	}
	return cmp.Or(strings.Join(s, "; "), "none")
}

// Check reports what is wrong with a calibration that was read.
func (c *Calibration) Check() error {
	for _, p := range c.parts() {
		if err := p.check(); err != nil {
			return err
		}
	}
	return nil
}

// Decode reads a calibration that json.Marshal wrote. It refuses what it does not know
// and what does not hold together.
func Decode(data []byte) (*Calibration, error) {
	c := new(Calibration)
	if err := strictjson.Unmarshal(data, c); err != nil {
		return nil, fmt.Errorf("calibration: %w", err)
	}
	if err := c.Check(); err != nil {
		return nil, err
	}
	return c, nil
}

// leastRows is what every fit of numbers needs: fewer tell nothing. Conformal
// intervals hold their level from any number of rows, by being infinite.
const leastRows = 10

func checkRows(what string, n int) error {
	if n < leastRows {
		return fmt.Errorf("calibration: %s needs at least %d held-out rows; there are %d", what, leastRows, n)
	}
	return nil
}

func notFinite(row int) error {
	return fmt.Errorf("calibration: the prediction or the target of held-out row %d is not a finite number", row+1)
}

// golden minimises f over [lo, hi] by golden-section search, to the given width; f has one
// minimum there.
func golden(lo, hi, width float64, f func(float64) float64) float64 {
	const g = 0.6180339887498949
	a, b := hi-g*(hi-lo), lo+g*(hi-lo)
	fa, fb := f(a), f(b)
	for hi-lo > width {
		if fa <= fb {
			hi, b, fb = b, a, fa
			a = hi - g*(hi-lo)
			fa = f(a)
		} else {
			lo, a, fa = a, b, fb
			b = lo + g*(hi-lo)
			fb = f(b)
		}
	}
	if fa <= fb {
		return a
	}
	return b
}
