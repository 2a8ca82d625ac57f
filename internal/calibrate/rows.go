package calibrate

import (
	"fmt"
	"iter"

	"utvi/dist"
)

// A Row is a held-out target, the prediction for it, and its weight. Weights count
// relative to each other: all equal weights mean the same as none. A row of weight 0
// does not count.
type Row[Target, Prediction any] struct {
	Target     Target
	Prediction Prediction
	Weight     float64
}

// Rows are held-out rows of a numeric target. They are read several times, and no
// distribution is kept: it may be one variable that is overwritten for each row.
type Rows = iter.Seq[Row[float64, dist.Dist]]

// ClassRows are held-out rows of classes, counted from 0, with the predicted
// probabilities.
type ClassRows = iter.Seq[Row[int, dist.Categorical]]

// Unweighted gives every row the weight 1.
func Unweighted[Target, Prediction any](rows iter.Seq2[Target, Prediction]) iter.Seq[Row[Target, Prediction]] {
	return func(yield func(Row[Target, Prediction]) bool) {
		for y, p := range rows {
			if !yield(Row[Target, Prediction]{y, p, 1}) {
				return
			}
		}
	}
}

// A tally counts rows by their weights.
type tally struct {
	seen         int // rows, those of weight 0 included
	rows         int // rows of a weight above 0
	sum, squares float64
	first, most  float64 // weights
	mixed        bool    // some weights differ
}

// add reports whether a row of this weight counts.
func (t *tally) add(w float64) bool {
	if !(w >= 0 && w <= 1e100) {
		panic("calibrate: a weight must lie between 0 and 1e100")
	}
	t.seen++
	if w == 0 {
		return false
	}
	if t.rows == 0 {
		t.first = w
	}
	t.mixed = t.mixed || w != t.first
	t.rows++
	t.sum += w
	t.squares += w * w
	t.most = max(t.most, w)
	return true
}

// effective is the number of rows of equal weight with the same information:
// (Σw)²/Σw².
func (t *tally) effective() float64 {
	if !t.mixed {
		return float64(t.rows)
	}
	return t.sum * t.sum / t.squares
}

// leastRows is what every fit of numbers needs: fewer show nothing. Conformal
// intervals hold their level from any number of rows, by being infinite.
const leastRows = 10

func (t *tally) check(what string) error {
	switch {
	case t.rows < leastRows:
		return fmt.Errorf("calibration: %s needs at least %d held-out rows; there are %d", what, leastRows, t.rows)
	case t.effective() < leastRows:
		return fmt.Errorf("calibration: %s needs at least %d held-out rows; the %d weighted rows count as %.1f", what, leastRows, t.rows, t.effective())
	}
	return nil
}

// notFinite names the row that was added last.
func (t *tally) notFinite() error {
	return fmt.Errorf("calibration: the prediction or the target of held-out row %d is not a finite number", t.seen)
}
