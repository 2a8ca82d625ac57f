// Package calibrate uses held-out rows to correct predictive distributions.
//
// There are five corrections. Each is optional and fitted separately:
//
//   - Scale multiplies the standard deviation by one number;
//   - Levels corrects the shape of the distribution by bending its levels;
//   - Conformal gives intervals, symmetric or not, with guaranteed coverage for any
//     distribution, in finite samples, for rows exchangeable with the held-out rows;
//   - Temperature sharpens or flattens the probabilities of classes;
//   - Sets gives sets of classes with guaranteed coverage.
//
// The model must not have been trained on the held-out rows. Scores are honest only on
// rows that were not used to calibrate either.
package calibrate

import (
	"cmp"
	"fmt"
	"strings"

	"utvi/dist"
	"utvi/internal/strictjson"
)

// A Calibration is what a model file stores for one target. Nil parts do nothing.
type Calibration struct {
	Scale       *Scale       `json:"scale,omitempty"`
	Levels      *Levels      `json:"levels,omitempty"`
	Conformal   *Conformal   `json:"conformal,omitempty"`
	Temperature *Temperature `json:"temperature,omitempty"`
	Sets        *Sets        `json:"sets,omitempty"`
}

// Scratch holds one corrected distribution, so that a loop over rows allocates nothing.
// Goroutines must not share it.
type Scratch struct {
	scaled dist.Affine
	bent   bent
}

// Apply returns the corrected distribution: scaled, then bent. It is valid until the
// next call with the same scratch. A nil scratch is allocated.
func (c *Calibration) Apply(d dist.Dist, scratch *Scratch) dist.Dist {
	if scratch == nil {
		scratch = new(Scratch)
	}
	if c.Scale != nil {
		scratch.scaled = c.Scale.apply(d)
		d = &scratch.scaled
	}
	if c.Levels != nil {
		scratch.bent.set(d, c.Levels)
		d = &scratch.bent
	}
	return d
}

// Interval returns a prediction's interval of a level in (0, 1): the conformal interval
// if one was fitted, else the central interval of the corrected distribution.
func (c *Calibration) Interval(d dist.Dist, level float64, scratch *Scratch) (lo, hi float64) {
	if c.Conformal != nil {
		return c.Conformal.Interval(d, level)
	}
	return dist.Interval(c.Apply(d, scratch), level)
}

// Enough reports whether too few rows were held out for conformal intervals or sets of a level in
// (0, 1), and how many would be enough.
func (c *Calibration) Enough(level float64) error {
	if c.Conformal != nil {
		if err := c.Conformal.enough(level); err != nil {
			return err
		}
	}
	if c.Sets != nil {
		return c.Sets.enough(level)
	}
	return nil
}

// Corrected returns the rows with corrected predictions: levels are fitted on rows that
// are scaled already.
func (c *Calibration) Corrected(rows Rows) Rows {
	return func(yield func(Row[float64, dist.Dist]) bool) {
		var scratch Scratch
		for r := range rows {
			r.Prediction = c.Apply(r.Prediction, &scratch)
			if !yield(r) {
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
	if c.Sets != nil {
		p = append(p, c.Sets)
	}
	return p
}

// String describes in one line what was fitted, and on how many rows.
func (c *Calibration) String() string {
	var s []string
	for _, p := range c.parts() {
		s = append(s, p.String())
	}
	return cmp.Or(strings.Join(s, "; "), "none")
}

// Check returns an error if the values are invalid.
func (c *Calibration) Check() error {
	for _, p := range c.parts() {
		if err := p.check(); err != nil {
			return err
		}
	}
	return nil
}

// Decode reads a calibration that json.Marshal wrote. It rejects unknown fields and
// invalid values.
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

// golden minimises f over [lo, hi] by golden-section search, to the given width; f has one
// minimum there.
func golden(lo, hi, width float64, f func(float64) float64) float64 {
	const g = 0.6180339887498949
	a, b := hi-g*(hi-lo), lo+g*(hi-lo)
	fa, fb := f(a), f(b)
	for hi-lo > width {
		if fa <= fb {
			hi = b
			b = a
			fb = fa
			a = hi - g*(hi-lo)
			fa = f(a)
		} else {
			lo = a
			a = b
			fa = fb
			b = lo + g*(hi-lo)
			fb = f(b)
		}
	}
	if fa <= fb {
		return a
	}
	return b
}
