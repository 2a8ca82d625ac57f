package predict

import (
	"slices"

	"utvi/dist"
)

// A Prediction is the prediction of one row. It stays valid.
type Prediction struct {
	Numbers []NumberPrediction // of targets that are numbers, in the order of Model.Targets
	Class   *ClassPrediction   // of a target that is a class; nil for numbers

	// OOD says how unlike the training rows the row is: 99 of 100 of them are
	// below 1. NaN for a network, which does not store statistics of its training rows.
	OOD float64

	// Abstain is set if the row is beyond the bounds of Options, or if the prediction is
	// not finite: flag it for manual review.
	Abstain bool
}

// A NumberPrediction is the prediction of one number, in its unit.
type NumberPrediction struct {
	Target string
	Number
	Quantiles []float64 // at the levels of Options
	Above     []float64 // probabilities to exceed the thresholds of Options
	Dist      dist.Dist // nil if the prediction is not finite
}

// A ClassPrediction is the prediction of a class.
type ClassPrediction struct {
	Target        string
	Class         string           // the most probable one; "" if the prediction is not finite
	Probabilities dist.Categorical // in the order of Model.Classes
	Entropy       float64          // nats
	Set           []string         // the conformal set, of a model that is calibrated so
}

// Prediction returns the prediction of a row as a copy that stays valid.
func (b *Batch) Prediction(row int) Prediction {
	out := Prediction{OOD: b.OOD(row), Abstain: b.Abstain(row)}
	m := b.s.m
	if m.classes != nil {
		c := slices.Clone(b.Classes(row))
		out.Class = &ClassPrediction{Target: m.targets[0].name, Probabilities: c, Entropy: c.Entropy()}
		if b.Finite(row) {
			out.Class.Class = m.classes[c.Argmax()]
		}
		for _, k := range b.Set(nil, row) {
			out.Class.Set = append(out.Class.Set, m.classes[k])
		}
		return out
	}
	out.Numbers = make([]NumberPrediction, len(m.targets))
	for t, n := range b.Numbers(row) {
		x := &out.Numbers[t]
		x.Target, x.Number = m.targets[t].name, n
		if !b.Finite(row) {
			x.Quantiles, x.Above = nones(len(b.p.o.Quantiles)), nones(len(b.p.o.Above))
			continue
		}
		x.Dist = b.KeepRaw(row, t)
		if c := m.calibration(t); c != nil {
			x.Dist = c.Apply(x.Dist, nil)
		}
		if m.counts {
			x.Dist = dist.Whole{Dist: x.Dist}
		} else if within, ok := m.bounds(t); ok {
			within.Dist = x.Dist
			x.Dist = within
		}
		for _, q := range b.p.o.Quantiles {
			x.Quantiles = append(x.Quantiles, x.Dist.Quantile(q))
		}
		for _, v := range b.p.o.Above {
			x.Above = append(x.Above, 1-x.Dist.CDF(v))
		}
	}
	return out
}

func nones(n int) []float64 {
	all := make([]float64, n)
	for i := range all {
		all[i] = none
	}
	return all
}
