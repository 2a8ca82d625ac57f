package predict

import (
	"slices"

	"utvi/dist"
)

// A Prediction is the prediction of one row. It stays valid.
type Prediction struct {
	Numbers []NumberPrediction // of targets that are numbers, in the order of Model.Targets
	Class   *ClassPrediction   // of a target that is a class; nil for numbers

	// Unfamiliar says how far the row is from the training rows: 99 of 100 of them are
	// below 1. NaN for a network, which does not store statistics of its training rows.
	Unfamiliar float64

	// Abstain is set if the row is beyond the bounds of Options: flag it for manual review.
	Abstain bool
}

// A NumberPrediction is the prediction of one number, in its unit.
type NumberPrediction struct {
	Target string
	Number
	Quantiles []float64 // at the levels of Options
	Dist      dist.Dist
}

// A ClassPrediction is the prediction of a class.
type ClassPrediction struct {
	Target        string
	Class         string           // the most probable one
	Probabilities dist.Categorical // in the order of Model.Classes
	Entropy       float64          // nats
}

// Prediction returns the prediction of a row as a copy that stays valid.
func (b *Batch) Prediction(row int) Prediction {
	out := Prediction{Unfamiliar: b.Unfamiliar(row), Abstain: b.p.o.Bounds() && b.Abstain(row)}
	m := b.s.m
	if m.classes != nil {
		c := slices.Clone(b.Classes(row))
		out.Class = &ClassPrediction{m.targets[0].name, m.classes[c.Argmax()], c, c.Entropy()}
		return out
	}
	out.Numbers = make([]NumberPrediction, len(m.targets))
	for t, n := range b.Numbers(row) {
		x := &out.Numbers[t]
		x.Target, x.Number, x.Dist = m.targets[t].name, n, b.KeepRaw(row, t)
		if c := m.calibration(t); c != nil {
			x.Dist = c.Apply(x.Dist, nil)
		}
		for _, q := range b.p.o.Quantiles {
			x.Quantiles = append(x.Quantiles, x.Dist.Quantile(q))
		}
	}
	return out
}
