package fit

import (
	"fmt"
	"slices"
)

// A worse correction is one that lowers the scores of rows it was not fitted on.
type worse struct {
	method Method
	what   string // that got worse
	from   float64
	to     float64
}

func (w worse) sentence(target string) string {
	return fmt.Sprintf("%s: %s is left out: it would change the %s of held-out rows from %.4f to %.4f", target, w.method, w.what, w.from, w.to)
}

// halves scores each half of the rows with the correction that the other half gives; nil
// if there are too few rows.
func (f fitter) halves(target string, methods []Method) *Scores {
	f.methods = methods
	even, err := f.fit(0, 2)
	if err != nil {
		return nil
	}
	odd, err := f.fit(1, 2)
	if err != nil {
		return nil
	}
	s := f.score(target, odd, even)
	return &s
}

// judge adds one correction of the distribution after the other, and finds those that
// make the scores of held-out rows worse. Conformal intervals and sets do not change the
// distribution. It returns the scores with the corrections that remain.
func (f fitter) judge(target string, before Scores) (after *Scores, bad []worse) {
	kept := slices.DeleteFunc(slices.Clone(f.methods), shapes)
	now := before
	for _, x := range []Method{Scale, Isotonic, Temperature} {
		if !slices.Contains(f.methods, x) {
			continue
		}
		next := f.halves(target, append(slices.Clone(kept), x))
		if next == nil {
			return nil, nil
		}
		if w, is := compare(x, now, *next); is {
			bad = append(bad, w)
			continue
		}
		kept, now = append(kept, x), *next
	}
	return f.halves(target, kept), bad
}

// shapes reports whether a method changes the predicted distribution.
func shapes(m Method) bool { return m == Scale || m == Isotonic || m == Temperature }

// compare judges a correction by the log-likelihood, but for the 1/n nats that fitting a
// number to half of n rows costs on average, and by the calibration error beyond what
// chance alone changes.
func compare(m Method, before, after Scores) (worse, bool) {
	a, b := quality(before), quality(after)
	switch {
	case b.ll < a.ll-2/float64(a.rows):
		return worse{m, "log-likelihood", a.ll, b.ll}, true
	case b.calibration > a.calibration+b.chance/2:
		return worse{m, "calibration error", a.calibration, b.calibration}, true
	}
	return worse{}, false
}

type measures struct {
	rows                    int
	ll, calibration, chance float64
}

func quality(s Scores) measures {
	if c := s.Classes; c != nil {
		return measures{c.Rows, c.LL.Value, c.ECE, c.ECEChance}
	}
	return measures{s.Numbers.Rows, s.Numbers.LL.Value, s.Numbers.CalibrationError, s.Numbers.CalibrationChance}
}
