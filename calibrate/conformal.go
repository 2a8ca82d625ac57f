package calibrate

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"utvi/dist"
)

// Conformal gives intervals μ ± q·σ about a prediction's mean, in its standard
// deviations (split conformal prediction: Papadopoulos et al. 2002, Lei et al. 2018).
// With the scores |y − μ|/σ of n held-out rows in order, the interval of level 1−α
// takes for q the score of rank
//
//	r = ⌈(n+1)·(1−α)⌉ ,   +∞ if r > n.
//
// A new row exchangeable with these falls inside with probability r/(n+1) ≥ 1−α on
// average over held-out rows (exactly, if no scores are equal), whatever the prediction
// is worth; a poor one only makes wide intervals. Scale and Levels do not enter: the
// prediction is taken as it comes from the model.
type Conformal struct {
	Rows int `json:"rows"` // n

	// Scores are all n scores in ascending order or, of more than 10,000, those of
	// the ranks ⌊j·n/10,000⌋: a rank between two takes the higher.
	Scores []float64 `json:"scores"`
}

const mostScores = 10000

// FitConformal keeps the scores of the held-out rows.
func FitConformal(rows Rows) (*Conformal, error) {
	var scores []float64
	for y, d := range rows {
		s := math.Abs(y-d.Mean()) / d.SD()
		if math.IsNaN(s) || math.IsInf(s, 0) {
			return nil, notFinite(len(scores))
		}
		scores = append(scores, s)
	}
	if len(scores) == 0 {
		return nil, errors.New("calibration: conformal intervals need held-out rows; there are none")
	}
	slices.Sort(scores)
	n := len(scores)
	if n <= mostScores {
		return &Conformal{n, scores}, nil
	}
	kept := make([]float64, mostScores)
	for j := range kept {
		kept[j] = scores[(j+1)*n/mostScores-1]
	}
	return &Conformal{n, kept}, nil
}

// Factor returns q of a level in (0, 1).
func (c *Conformal) Factor(level float64) float64 {
	if !(level > 0 && level < 1) {
		panic("calibrate: a level must lie between 0 and 1")
	}
	// (n+1)·level may be rounded up past a whole number.
	n, m := int64(c.Rows), int64(len(c.Scores))
	r := int64(math.Ceil(float64(n+1) * level * (1 - 1e-12)))
	if r > n {
		return math.Inf(1)
	}
	return c.Scores[(r*m+n-1)/n-1]
}

// Interval returns the interval of a level in (0, 1), infinite where the rows do not
// suffice.
func (c *Conformal) Interval(d dist.Dist, level float64) (lo, hi float64) {
	mean, half := d.Mean(), c.Factor(level)*d.SD()
	return mean - half, mean + half
}

// Enough reports that the rows do not suffice for a level in (0, 1), and how many would.
func (c *Conformal) Enough(level float64) error {
	if !math.IsInf(c.Factor(level), 1) {
		return nil
	}
	need := math.Ceil(level / (1 - level) * (1 - 1e-12))
	return fmt.Errorf("conformal intervals of %g %% need at least %.0f held-out rows; with %d they are infinite", 100*level, need, c.Rows)
}

func (c *Conformal) String() string { return fmt.Sprintf("conformal intervals from %d rows", c.Rows) }

func (c *Conformal) check() error {
	if c.Rows < 1 || c.Rows > math.MaxInt32 || len(c.Scores) != min(c.Rows, mostScores) {
		return fmt.Errorf("calibration: %d conformal scores of %d rows; there should be one each, at most %d", len(c.Scores), c.Rows, mostScores)
	}
	last := 0.0
	for i, s := range c.Scores {
		if !(s >= last && s <= math.MaxFloat64) {
			return fmt.Errorf("calibration: conformal score %d is %g after %g; they are finite, not negative and in ascending order", i+1, s, last)
		}
		last = s
	}
	return nil
}
