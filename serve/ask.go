package serve

import (
	"cmp"
	"math"

	"utvi/internal/answer"
	"utvi/predict"
)

// options are what a request asks for beside its rows.
type options struct {
	Interval       *float64
	Quantiles      []float64
	MaxStd         float64
	MaxOOD         float64
	OldMaxOOD      float64 // given by the name that max_ood had, max_unfamiliar
	MinProbability float64
	Density        int // points of the density; 0: none
}

const maxDensity, maxQuantiles = 1000, 1000

func tooManyQuantiles() error {
	return failf(invalid, "there are more than %d levels of quantiles, which is the most that is allowed", maxQuantiles)
}

// set sets a number by its name, and reports whether there is one of that name.
func (o *options) set(name string, v float64) bool {
	switch name {
	case "interval":
		o.Interval = &v
	case "max_std":
		o.MaxStd = v
	case "max_ood":
		o.MaxOOD = v
	case "max_unfamiliar":
		o.OldMaxOOD = v
	case "min_probability":
		o.MinProbability = v
	default:
		return false
	}
	return true
}

// read reads the option of a field of a body; null is as if it was not there.
func (o *options) read(s *scanner, name string) error {
	switch name {
	case "interval", "max_std", "max_ood", "max_unfamiliar", "min_probability":
		v, ok, err := readNumber(s, name)
		if ok {
			o.set(name, v)
		}
		return err
	case "density":
		v, ok, err := readNumber(s, name)
		if !ok || err != nil {
			return err
		}
		if v != math.Trunc(v) || math.Abs(v) > 1e9 {
			return failf(malformed, "the options are malformed: density is %g; it must be a whole number", v)
		}
		o.Density = int(v)
		return nil
	case "quantiles":
		return o.readQuantiles(s)
	}
	return failf(malformed, `the options are malformed: unknown field %.60q; the fields are rows, variances, interval, quantiles, max_std, max_ood, min_probability, density`, name)
}

func readNumber(s *scanner, name string) (v float64, ok bool, err error) {
	switch c := s.next(); c {
	case '"', '{', '[', 't', 'f':
		return 0, false, failf(malformed, "the options are malformed: %s must be a number", name)
	}
	return s.float()
}

func (o *options) readQuantiles(s *scanner) error {
	if s.null() {
		return nil
	}
	if s.next() != '[' {
		return failf(malformed, "the options are malformed: quantiles must be a list of numbers")
	}
	o.Quantiles = nil
	return s.list(func(n int) error {
		if n == maxQuantiles {
			return tooManyQuantiles()
		}
		v, _, err := readNumber(s, "a level of quantiles")
		o.Quantiles = append(o.Quantiles, v)
		return err
	})
}

// usual reports whether nothing was asked for that changes the predictor.
func (o *options) usual() bool {
	return o.Interval == nil && len(o.Quantiles) == 0 && o.MaxStd == 0 && o.MaxOOD == 0 && o.OldMaxOOD == 0 && o.MinProbability == 0
}

// predictor returns what predicts as the request asks.
func (o *options) predictor(l *loaded) (*predict.Predictor, error) {
	switch {
	case o.Density > 0 && l.Classes() != nil:
		return nil, failf(invalid, "the model predicts classes, which have no density")
	case o.MaxOOD != 0 && o.OldMaxOOD != 0:
		return nil, failf(invalid, "max_unfamiliar is the old name of max_ood; give max_ood alone")
	case o.usual():
		return l.usual, nil
	}
	p := predict.Options{Quantiles: o.Quantiles, MaxStd: o.MaxStd, MaxOOD: cmp.Or(o.MaxOOD, o.OldMaxOOD), MinProbability: o.MinProbability, Interval: l.usual.Options().Interval}
	if o.Interval != nil {
		p.Interval = *o.Interval
		if !(p.Interval > 0 && p.Interval < 1) {
			return nil, failf(invalid, "the level of the intervals is %g; it must lie between 0 and 1", p.Interval)
		}
	}
	out, err := l.NewPredictor(p)
	return out, as(invalid, err)
}

// noteOldNames logs once that clients use a name of an earlier version.
func (s *Server) noteOldNames(o *options) {
	if o.OldMaxOOD != 0 {
		s.oldNames.Do(func() {
			s.Log.Warn("a client sends max_unfamiliar, which is called max_ood now; the old name still works")
		})
	}
}

// extra is how many numbers a target has beyond the usual ones.
func (o *options) extra() int { return o.Density + len(o.Quantiles) }

// numbers is how many numbers the answer for a row has, about.
func (o *options) numbers(l *loaded) int {
	return len(l.Classes()) + len(l.Targets())*(8+o.extra()) + 2
}

// fits reports a request whose rows or answer would be too many.
func (o *options) fits(rows int, l *loaded, limits Limits) error {
	if o.Density < 0 || o.Density == 1 || o.Density > maxDensity {
		return failf(invalid, "density is %d; it must be a number of points from 2 to %d", o.Density, maxDensity)
	}
	if rows > limits.Rows {
		return failf(tooLarge, "the request has %d rows; the server allows %d", rows, limits.Rows)
	}
	if n := rows * o.numbers(l); n > limits.Numbers {
		return failf(tooLarge, "the answer would have about %d numbers; the server allows %d: send fewer rows at a time", n, limits.Numbers)
	}
	return nil
}

// answerSize is the length of the answer for a row as JSON, at most.
func (o *options) answerSize(l *loaded) int {
	return int(l.answerBytes) + len(l.Targets())*(80+answer.NumberBytes*o.extra())
}
