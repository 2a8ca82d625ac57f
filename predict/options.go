package predict

import (
	"errors"
	"fmt"
	"math"

	"utvi/dist"
)

// Options say what a Predictor returns. With the zero value, intervals are of 90 % and
// no row abstains.
type Options struct {
	Interval  float64   // level of the intervals; 0 stands for 0.9; below 0: no intervals
	Quantiles []float64 // levels of quantiles, between 0 and 1
	Above     []float64 // thresholds, for the probability that a number exceeds them

	// A prediction abstains if a standard deviation is larger, the most probable class
	// is less probable, or the row's ood is larger. 0 sets no bound.
	MaxStd, MinProbability, MaxOOD float64
}

// Bounds reports whether predictions may abstain.
func (o Options) Bounds() bool { return o.MaxStd > 0 || o.MinProbability > 0 || o.MaxOOD > 0 }

func (o Options) level() float64 {
	if o.Interval == 0 {
		return 0.9
	}
	return o.Interval
}

func (o Options) check(m *Model) error {
	classes := len(m.classes) > 0
	switch {
	case !(o.level() < 1):
		return fmt.Errorf("the level of the intervals is %g; it must lie between 0 and 1", o.Interval)
	case o.MaxStd < 0 || math.IsNaN(o.MaxStd):
		return fmt.Errorf("the bound of the standard deviation is %g; it must be > 0", o.MaxStd)
	case o.MaxOOD < 0 || math.IsNaN(o.MaxOOD):
		return fmt.Errorf("the bound of ood is %g; it must be > 0", o.MaxOOD)
	case !(o.MinProbability >= 0 && o.MinProbability <= 1):
		return fmt.Errorf("the bound of the probability is %g; it must lie between 0 and 1", o.MinProbability)
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
	for _, q := range o.Quantiles {
		if !(q > 0 && q < 1) {
			return fmt.Errorf("the level of a quantile is %g; it must lie between 0 and 1", q)
		}
	}
	for _, x := range o.Above {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("a threshold is %g; it must be a finite number", x)
		}
	}
	for i := range m.Calibration {
		if o.level() < 0 {
			break
		}
		if c := m.Calibration[i].Conformal; c != nil {
			if err := c.Enough(o.level()); err != nil {
				return err
			}
		}
		if s := m.Calibration[i].Sets; s != nil {
			if err := s.Enough(o.level()); err != nil {
				return err
			}
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
