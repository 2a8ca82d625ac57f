package serve

import "utvi/predict"

// options are what a request asks for beside its rows.
type options struct {
	Interval       *float64  `json:"interval"`
	Quantiles      []float64 `json:"quantiles"`
	MaxStd         float64   `json:"max_std"`
	MaxUnfamiliar  float64   `json:"max_unfamiliar"`
	MinProbability float64   `json:"min_probability"`
	Density        int       `json:"density"` // points of the density; 0: none
}

const maxDensity, maxQuantiles = 1000, 1000

// usual reports whether nothing was asked for that changes the predictor.
func (o *options) usual() bool {
	return o.Interval == nil && len(o.Quantiles) == 0 && o.MaxStd == 0 && o.MaxUnfamiliar == 0 && o.MinProbability == 0
}

// predictor returns what predicts as the request asks.
func (o *options) predictor(l *loaded) (*predict.Predictor, error) {
	switch {
	case o.Density < 0 || o.Density == 1 || o.Density > maxDensity:
		return nil, failf(invalid, "density is %d; it must be a number of points from 2 to %d", o.Density, maxDensity)
	case o.Density > 0 && l.Classes() != nil:
		return nil, failf(invalid, "the model predicts classes, which have no density")
	case len(o.Quantiles) > maxQuantiles:
		return nil, failf(invalid, "there are %d levels of quantiles; at most %d are allowed", len(o.Quantiles), maxQuantiles)
	case o.usual():
		return l.usual, nil
	}
	p := predict.Options{Quantiles: o.Quantiles, MaxStd: o.MaxStd, MaxUnfamiliar: o.MaxUnfamiliar, MinProbability: o.MinProbability, Interval: l.usual.Options().Interval}
	if o.Interval != nil {
		p.Interval = *o.Interval
		if !(p.Interval > 0 && p.Interval < 1) {
			return nil, failf(invalid, "the level of the intervals is %g; it must lie between 0 and 1", p.Interval)
		}
	}
	out, err := l.NewPredictor(p)
	return out, as(invalid, err)
}

// numbers is how many numbers the answer for a row has, about.
func (o *options) numbers(l *loaded) int {
	return len(l.Classes()) + len(l.Targets())*(8+o.Density+len(o.Quantiles)) + 2
}

// fits reports a request whose rows or answer would be too many.
func (o *options) fits(rows int, l *loaded, limits Limits, mem *lease) error {
	if rows > limits.Rows {
		return failf(tooLarge, "the request has %d rows; the server allows %d", rows, limits.Rows)
	}
	if n := rows * o.numbers(l); n > limits.Numbers {
		return failf(tooLarge, "the answer would have about %d numbers; the server allows %d: send fewer rows at a time", n, limits.Numbers)
	}
	if extra := o.Density + len(o.Quantiles); extra > 0 { // rowBytes counts the usual answer
		return mem.take(int64(20 * rows * len(l.Targets()) * extra))
	}
	return nil
}

func (o *options) interval(p *predict.Predictor) (level float64, ok bool) {
	switch level = p.Options().Interval; {
	case level == 0:
		return 0.9, true
	default:
		return level, level > 0
	}
}
