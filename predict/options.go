package predict

import (
	"errors"
	"fmt"
	"math"

	"utvi/dist"
	"utvi/internal/calibrate"
)

// Options say what a Predictor returns. With the zero value, intervals are of 90 % and
// no row abstains.
type Options struct {
	Interval  float64   `json:"interval,omitempty"`  // level of the intervals; 0 stands for 0.9; below 0: no intervals
	Quantiles []float64 `json:"quantiles,omitempty"` // levels of quantiles, between 0 and 1
	Above     []float64 `json:"above,omitempty"`     // thresholds, for the probability that a number exceeds them

	// A prediction abstains if a standard deviation is larger, the most probable class
	// is less probable, or the row's ood is larger. 0 sets no bound.
	MaxStd         float64 `json:"max_std,omitempty"`
	MinProbability float64 `json:"min_prob,omitempty"`
	MaxOOD         float64 `json:"max_ood,omitempty"`

	// SetAside lets Stream go on where a cell of a row cannot be read: its prediction is not finite,
	// and Batch.Unread is true. Otherwise the cell is an error.
	SetAside bool `json:"-"`
}

// Bounds reports whether predictions may abstain.
func (o Options) Bounds() bool { return o.MaxStd > 0 || o.MinProbability > 0 || o.MaxOOD > 0 }

func (o Options) level() float64 {
	if o.Interval == 0 {
		return 0.9
	}
	return o.Interval
}

// check reports options that no model, or not this one, can serve.
func (o Options) check(m *Model) error {
	if err := o.checkNumbers(); err != nil {
		return err
	}
	if err := o.checkTask(m); err != nil {
		return err
	}
	return o.checkCalibration(m.Calibration)
}

// checkNumbers reports levels, thresholds and bounds that are none.
func (o Options) checkNumbers() error {
	const share = "lie between 0 and 1"
	type number struct {
		name  string
		value float64
		right bool
		must  string
	}
	all := []number{
		{"the level of the intervals", o.Interval, o.level() < 1, share},
		{"the bound of the standard deviation", o.MaxStd, o.MaxStd >= 0, "be > 0"},
		{"the bound of ood", o.MaxOOD, o.MaxOOD >= 0, "be > 0"},
		{"the bound of the probability", o.MinProbability, o.MinProbability >= 0 && o.MinProbability <= 1, share},
	}
	for _, q := range o.Quantiles {
		all = append(all, number{"the level of a quantile", q, q > 0 && q < 1, share})
	}
	for _, x := range o.Above {
		all = append(all, number{"a threshold", x, x-x == 0, "be a finite number"})
	}
	for _, n := range all {
		if !n.right {
			return fmt.Errorf("%s is %g; it must %s", n.name, n.value, n.must)
		}
	}
	return nil
}

// checkTask reports what makes no sense for classes, for numbers, or without a table.
func (o Options) checkTask(m *Model) error {
	classes := len(m.classes) > 0
	switch {
	case classes && o.MaxStd > 0:
		return errors.New("the model predicts classes, which have no standard deviation; bound the probability instead")
	case !classes && o.MinProbability > 0:
		return errors.New("the model predicts numbers, which have no probability; bound the standard deviation instead")
	case classes && len(o.Quantiles) > 0:
		return errors.New("the model predicts classes, which have no quantiles")
	case classes && len(o.Above) > 0:
		return errors.New("the model predicts classes, which do not exceed a number")
	case m.Net == nil && o.MaxOOD > 0:
		return errors.New("a network does not know which rows it was trained with; only a tabular model can say how unlike them a row is (ood)")
	}
	return nil
}

// checkCalibration reports intervals or sets that were calibrated by too few rows for their level.
func (o Options) checkCalibration(all []calibrate.Calibration) error {
	if o.level() < 0 {
		return nil
	}
	for _, c := range all {
		if err := c.Enough(o.level()); err != nil {
			return err
		}
	}
	return nil
}

// A Predictor predicts rows with a model. Goroutines may share it.
type Predictor struct {
	m    *Model
	o    Options
	half []float64 // half widths of intervals in standard deviations, if all rows have the same
}

// NewPredictor returns a predictor. It reports options that the model cannot serve.
func (m *Model) NewPredictor(o Options) (*Predictor, error) {
	if err := o.check(m); err != nil {
		return nil, err
	}
	p := &Predictor{m: m, o: o}
	if o.level() > 0 {
		p.half = m.halfWidths(o.level())
	}
	return p, nil
}

// Model is the model that predicts.
func (p *Predictor) Model() *Model { return p.m }

// Options returns the options that the predictor was made with.
func (p *Predictor) Options() Options { return p.o }

// halfWidths are half the widths of the intervals of a single network, in standard
// deviations: its predictions differ only in mean and deviation. Nil for ensembles.
func (m *Model) halfWidths(level float64) []float64 {
	if m.Net == nil || len(m.Networks.Members) != 1 {
		return nil
	}
	var all []float64
	for _, s := range m.Net.Residuals {
		var d dist.Mixture
		for j, w := range s.W {
			d.Add(w, 0, math.Sqrt(s.R[j]))
		}
		_, hi := dist.Interval(&d, level)
		all = append(all, hi/d.SD())
	}
	return all
}
