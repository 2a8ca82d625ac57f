package calibrate

import (
	"errors"
	"fmt"
	"math"

	"utvi/dist"
)

// Conformal gives intervals about a prediction's mean μ, in its standard deviations σ
// (split conformal prediction: Papadopoulos et al. 2002, Lei et al. 2018). The interval
// of level 1−α is one of
//
//	μ − q·σ … μ + q·σ      q  = quantile of |y−μ|/σ at 1−α           (FitConformal)
//	μ − q₁·σ … μ + q₂·σ    q₁ = quantile of (μ−y)/σ at 1−α/2,
//	                       q₂ = quantile of (y−μ)/σ at 1−α/2         (FitAsymmetric)
//
// where the quantile of n scores at a level p is the score of rank
//
//	r = ⌈(n+1)·p⌉ ,   +∞ if r > n.
//
// A new row exchangeable with the held-out ones has a score up to that quantile with
// probability r/(n+1) ≥ p on average over held-out rows (exactly, if no scores are
// equal), however good the prediction is; a poor one only makes wide intervals. So the
// first interval holds its level, and the second one misses at most α/2 on each side.
// Scale and Levels do not enter: the prediction is taken as it comes from the model.
//
// Weighted rows stand for more or fewer rows of those to come (Tibshirani et al. 2019).
// A new row takes the largest weight W among the held-out ones, and the quantile is the
// score at which Σ w/(Σ w + W) reaches p. The intervals hold for new rows whose weight
// is at most W.
type Conformal struct {
	Ranked         // of |y−μ|/σ, or of (y−μ)/σ if Below is given
	Below  *Ranked `json:"below,omitempty"` // of (μ−y)/σ
}

// FitConformal returns symmetric intervals.
func FitConformal(rows Rows) (*Conformal, error) {
	r, err := rankScores(rows, math.Abs)
	if err != nil {
		return nil, err
	}
	return &Conformal{Ranked: r}, nil
}

// FitAsymmetric returns intervals whose sides are fitted separately, for errors that
// lean to one side. They need twice as many rows for the same level.
func FitAsymmetric(rows Rows) (*Conformal, error) {
	above, err := rankScores(rows, func(z float64) float64 { return z })
	if err != nil {
		return nil, err
	}
	below, err := rankScores(rows, func(z float64) float64 { return -z })
	if err != nil {
		return nil, err
	}
	return &Conformal{above, &below}, nil
}

func rankScores(rows Rows, score func(z float64) float64) (Ranked, error) {
	var t tally
	var all []scored
	for r := range rows {
		if !t.add(r.Weight) {
			continue
		}
		z := (r.Target - r.Prediction.Mean()) / r.Prediction.SD()
		if math.IsNaN(z) || math.IsInf(z, 0) {
			return Ranked{}, t.notFinite()
		}
		all = append(all, scored{score(z), r.Weight})
	}
	if len(all) == 0 {
		return Ranked{}, errors.New("calibration: conformal intervals need at least one held-out row")
	}
	return rank(all, &t), nil
}

// Factors returns how many standard deviations the interval of a level in (0, 1)
// reaches below and above the mean.
func (c *Conformal) Factors(level float64) (below, above float64) {
	if !(level > 0 && level < 1) {
		panic("calibrate: a level must lie between 0 and 1")
	}
	if c.Below == nil {
		q := c.at(level)
		return q, q
	}
	p := (1 + level) / 2
	return c.Below.at(p), c.at(p)
}

// Interval returns the interval of a level in (0, 1). A side is infinite if there are
// too few rows.
func (c *Conformal) Interval(d dist.Dist, level float64) (lo, hi float64) {
	mean, sd := d.Mean(), d.SD()
	below, above := c.Factors(level)
	return mean - below*sd, mean + above*sd
}

// enough reports whether there are too few rows for a level in (0, 1), and how many
// would be enough.
func (c *Conformal) enough(level float64) error {
	below, above := c.Factors(level)
	if !math.IsInf(max(below, above), 1) {
		return nil
	}
	p := level
	if c.Below != nil {
		p = (1 + level) / 2
	}
	need := math.Ceil(p / (1 - p) * (1 - 1e-12))
	if c.Shares != nil {
		return fmt.Errorf("conformal intervals of %g %% need the weight of at least %.0f rows like the heaviest one; the %d held-out rows have the weight of %.1f, so the intervals are infinite", 100*level, need, c.Rows, c.worth())
	}
	return fmt.Errorf("conformal intervals of %g %% need at least %.0f held-out rows; with %d they are infinite", 100*level, need, c.Rows)
}

// String names the correction and the rows it is from.
func (c *Conformal) String() string {
	s := fmt.Sprintf("conformal intervals from %d rows", c.Rows)
	if c.Below != nil {
		s = "asymmetric " + s
	}
	return s
}

func (c *Conformal) check() error {
	if c.Below == nil {
		return c.Ranked.check(0)
	}
	for _, r := range []*Ranked{&c.Ranked, c.Below} {
		if err := r.check(-math.MaxFloat64); err != nil {
			return err
		}
	}
	if c.Below.Rows != c.Rows || (c.Below.Shares == nil) != (c.Shares == nil) || c.at(0.5) < -c.Below.at(0.5) {
		return errors.New("calibration: the conformal scores below the mean do not match those above")
	}
	return nil
}
