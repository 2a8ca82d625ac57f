package calibrate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
)

// Ranked are scores of held-out rows in ascending order.
type Ranked struct {
	Rows int `json:"rows"` // n

	// Scores are all n scores or, of more than 10,000, the scores of the ranks
	// ⌊j·n/10,000⌋: a rank between two of them takes the higher.
	Scores []float64 `json:"scores"`

	// Shares are the weight up to each score, as a share of all weight with one more
	// row of the largest. Nil without weights: the shares are rank/(n+1).
	Shares []float64 `json:"shares,omitempty"`
}

const mostScores = 10000

type scored struct{ score, weight float64 }

func rank(all []scored, t *tally) Ranked {
	slices.SortFunc(all, func(a, b scored) int { return cmp.Compare(a.score, b.score) })
	n := len(all)
	m := min(n, mostScores)
	r := Ranked{Rows: n, Scores: make([]float64, m)}
	if t.mixed {
		r.Shares = make([]float64, m)
	}
	var weight float64
	at := 0
	for j := range m {
		for ; at < (j+1)*n/m; at++ {
			weight += all[at].weight
		}
		r.Scores[j] = all[at-1].score
		if t.mixed {
			r.Shares[j] = weight / (t.sum + t.most)
		}
	}
	return r
}

// at returns the quantile at a level, +∞ if there are too few rows.
func (r *Ranked) at(level float64) float64 {
	const down = 1 - 1e-12 // (n+1)·level may be rounded up past a whole number
	n, m := int64(r.Rows), int64(len(r.Scores))
	i := int64(0)
	if r.Shares != nil {
		i = int64(sort.SearchFloat64s(r.Shares, level*down))
	} else if k := int64(math.Ceil(float64(n+1) * level * down)); k > n {
		i = m
	} else {
		i = (k*m+n-1)/n - 1
	}
	if i >= m {
		return math.Inf(1)
	}
	return r.Scores[i]
}

// worth is the weight of all rows in units of the largest.
func (r *Ranked) worth() float64 {
	s := r.Shares[len(r.Shares)-1]
	return s / (1 - s)
}

func (r *Ranked) check(least float64) error {
	if r.Rows < 1 || r.Rows > math.MaxInt32 || len(r.Scores) != min(r.Rows, mostScores) {
		return fmt.Errorf("calibration: %d conformal scores of %d rows; there must be one for each row, at most %d", len(r.Scores), r.Rows, mostScores)
	}
	last := least
	for i, s := range r.Scores {
		if !(s >= last && s <= math.MaxFloat64) {
			return fmt.Errorf("calibration: conformal score %d is %g after %g; scores must be finite and in ascending order, and not negative in symmetric intervals", i+1, s, last)
		}
		last = s
	}
	if r.Shares == nil {
		return nil
	}
	if len(r.Shares) != len(r.Scores) {
		return fmt.Errorf("calibration: %d conformal scores have %d shares of the weight", len(r.Scores), len(r.Shares))
	}
	last = 0
	for i, s := range r.Shares {
		if !(s >= last && s > 0 && s < 1) {
			return fmt.Errorf("calibration: conformal share %d is %g after %g; shares must lie between 0 and 1 in ascending order", i+1, s, last)
		}
		last = s
	}
	return nil
}
