package fit

import (
	"math"
	"slices"

	"utvi/dist"
	"utvi/internal/calibrate"
	"utvi/internal/counts"
	"utvi/metric"
)

// A fitter fits and scores the calibration of one target.
type fitter struct {
	held    []outcome
	target  int
	methods []Method
	classes bool
	counts  bool
}

// spread returns a target as the distribution of row i sees it: a count is spread over ± ½,
// see dist.Counts, by a sequence that fills the interval evenly.
func (f fitter) spread(i int, y float64) float64 {
	if !f.counts {
		return y
	}
	const golden = 0.6180339887498949
	_, u := math.Modf(golden * float64(i+1))
	return y - 0.5 + u
}

// part are every step-th of the rows, from the given one on.
func (f fitter) part(from, step int) calibrate.Rows {
	return func(yield func(calibrate.Row[float64, dist.Dist]) bool) {
		for i := from; i < len(f.held); i += step {
			o := &f.held[i]
			if !yield(calibrate.Row[float64, dist.Dist]{Target: f.spread(i, o.y[f.target]), Prediction: o.d[f.target], Weight: o.weight}) {
				return
			}
		}
	}
}

func (f fitter) classPart(from, step int) calibrate.ClassRows {
	return func(yield func(calibrate.Row[int, dist.Categorical]) bool) {
		for i := from; i < len(f.held); i += step {
			o := &f.held[i]
			if !yield(calibrate.Row[int, dist.Categorical]{Target: o.class, Prediction: o.p, Weight: o.weight}) {
				return
			}
		}
	}
}

// fit fits the methods in their order on a part of the rows.
func (f fitter) fit(from, step int) (*calibrate.Calibration, error) {
	c := &calibrate.Calibration{}
	var err error
	for _, x := range []Method{Scale, Isotonic, Temperature, Conformal, Asymmetric} {
		if err != nil || !slices.Contains(f.methods, x) {
			continue
		}
		switch x {
		case Scale:
			c.Scale, err = calibrate.FitScale(f.part(from, step))
		case Isotonic:
			c.Levels, err = calibrate.FitLevels(c.Corrected(f.part(from, step)))
		case Conformal:
			if f.classes {
				c.Sets, err = calibrate.FitSets(f.classPart(from, step))
				continue
			}
			c.Conformal, err = calibrate.FitConformal(f.part(from, step))
		case Asymmetric:
			c.Conformal, err = calibrate.FitAsymmetric(f.part(from, step))
		case Temperature:
			c.Temperature, err = calibrate.FitTemperature(f.classPart(from, step))
		}
	}
	return c, err
}

// score scores even and odd rows, each with their calibration.
func (f fitter) score(target string, even, odd *calibrate.Calibration) Scores {
	var numbers metric.Regression
	var classes metric.Classification
	var conformal [len(conformalLevels)]metric.Coverage
	var sets setTally
	var scratch calibrate.Scratch
	p := make(dist.Categorical, 0)
	for i, o := range f.held {
		c := even
		if i%2 == 1 {
			c = odd
		}
		if f.classes {
			if c.Sets != nil {
				sets.add(c.Sets, o.p, o.class, o.weight, 0)
			}
			p = append(p[:0], o.p...)
			if c.Temperature != nil {
				c.Temperature.Apply(p, p)
			}
			classes.Add(o.class, p, o.weight)
			continue
		}
		y, d := o.y[f.target], o.d[f.target]
		applied := c.Apply(d, &scratch)
		if f.counts {
			applied = dist.Whole{Dist: applied}
		}
		numbers.Add(y, applied, o.weight)
		for j, level := range conformalLevels {
			lo, hi := c.Interval(d, level, &scratch)
			switch {
			case f.counts && c.Conformal == nil:
				lo, hi = dist.Interval(applied, level)
			case f.counts:
				lo, hi = counts.Bound(lo), counts.Bound(hi)
			}
			conformal[j].Add(y, lo, hi, o.weight)
		}
	}
	if f.classes {
		s := classes.Scores()
		out := Scores{Target: target, Classes: &s}
		if even.Sets != nil {
			out.Sets = sets.scores()
		}
		return out
	}
	s := numbers.Scores()
	for j, level := range conformalLevels {
		s.Intervals[j] = conformal[j].Score(level)
	}
	return Scores{Target: target, Numbers: &s}
}
