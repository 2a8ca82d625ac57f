package calibrate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
)

// Levels bends the levels of a distribution function F into R(F), so that on the
// held-out rows R(F(y)) is uniform (Kuleshov et al. 2018). R is piecewise linear
// through (0, 0), the knots (From, To) and (1, 1), and rises everywhere.
//
// Isotonic regression of the share of rows below a level on that level is their
// empirical distribution function R̂ itself, which rises already; only equal levels are
// pooled. It is taken at levels that divide the rows into 2·∛n equal parts, since a
// density that follows every row would be noise, and the outer parts into halves down to
// two rows, for the sake of high intervals; and as if one more row had been seen,
// spread over the levels as the prediction expects:
//
//	R(u) = (n·R̂(u) + u)/(n + 1)
//
// so the slope of R, by which the density is multiplied, is at least 1/(n + 1).
// Weighted rows enter R̂ by their weights, and n is (Σw)²/Σw², the number of rows of
// equal weight with the same information.
type Levels struct {
	Rows int       `json:"rows"` // used to fit it
	From []float64 `json:"from"`
	To   []float64 `json:"to"`
}

const (
	mostParts  = 200
	mostKnots  = mostParts + 2*32
	leastLevel = 1e-12 // least distance of a knot from 0 and 1
	leastSlope = 1e-10
	mostSlope  = 1e13
)

// FitLevels fits the map on held-out rows.
func FitLevels(rows Rows) (*Levels, error) {
	var t tally
	var u []scored
	for r := range rows {
		if !t.add(r.Weight) {
			continue
		}
		level := r.Prediction.CDF(r.Target)
		if math.IsNaN(level) || math.IsInf(r.Target, 0) {
			return nil, t.notFinite()
		}
		u = append(u, scored{min(max(level, leastLevel), 1-leastLevel), r.Weight})
	}
	if err := t.check("a map of levels"); err != nil {
		return nil, err
	}
	slices.SortFunc(u, func(a, b scored) int { return cmp.Compare(a.score, b.score) })
	n, below := t.effective(), ranksOf(u, &t)
	l := &Levels{Rows: t.rows}
	last := 0.0
	for _, rank := range ranks(int(n)) {
		k := sort.Search(len(u), func(i int) bool { return below[i] > float64(rank) })
		if k == 0 {
			continue // one row outweighs a whole part
		}
		from := u[k-1].score + (u[k].score-u[k-1].score)/2
		// Rows at one level are pooled: they all lie below the knot.
		k = sort.Search(len(u), func(i int) bool { return u[i].score > from })
		if from-last < leastLevel/2 || k == len(u) {
			continue
		}
		l.From = append(l.From, from)
		l.To = append(l.To, (below[k-1]+from)/(n+1))
		last = from
	}
	return l, nil
}

// ranksOf returns how many of the effective rows lie up to each row.
func ranksOf(u []scored, t *tally) []float64 {
	below := make([]float64, len(u))
	var weight float64
	for i, x := range u {
		weight += x.weight
		below[i] = weight / t.sum * t.effective()
		if !t.mixed {
			below[i] = float64(i + 1)
		}
	}
	return below
}

// ranks returns how many of n rows lie below each knot, in ascending order.
func ranks(n int) (r []int) {
	parts := min(int(math.Ceil(2*math.Cbrt(float64(n)))), mostParts)
	for k := 1; k < parts; k++ {
		r = append(r, k*n/parts)
	}
	for tail := n / parts / 2; tail >= 2; tail /= 2 {
		r = append(r, tail, n-tail)
	}
	slices.Sort(r)
	return slices.Compact(r)
}

// segment returns the line of R above knot i−1: from u0 to u1, from p0 to p1.
func (l *Levels) segment(i int) (u0, u1, p0, p1 float64) {
	u1, p1 = 1, 1
	if i > 0 {
		u0, p0 = l.From[i-1], l.To[i-1]
	}
	if i < len(l.From) {
		u1, p1 = l.From[i], l.To[i]
	}
	return u0, u1, p0, p1
}

// at returns R(u) and its slope.
func (l *Levels) at(u float64) (p, slope float64) {
	i, _ := slices.BinarySearch(l.From, u)
	u0, u1, p0, p1 := l.segment(i)
	slope = (p1 - p0) / (u1 - u0)
	if u > (u0+u1)/2 {
		return p1 - (u1-u)*slope, slope // exact at 1
	}
	return p0 + (u-u0)*slope, slope
}

// Inverse returns the u with R(u) = p.
func (l *Levels) Inverse(p float64) float64 {
	if !(p >= 0 && p <= 1) {
		return math.NaN()
	}
	i, _ := slices.BinarySearch(l.To, p)
	u0, u1, p0, p1 := l.segment(i)
	if p > (p0+p1)/2 {
		return u1 - (p1-p)*((u1-u0)/(p1-p0))
	}
	return u0 + (p-p0)*((u1-u0)/(p1-p0))
}

// String names the correction and the rows it is from.
func (l *Levels) String() string {
	return fmt.Sprintf("levels bent at %d knots fitted on %d rows", len(l.From), l.Rows)
}

func (l *Levels) check() error {
	if l.Rows < leastRows || len(l.From) != len(l.To) || len(l.From) > mostKnots {
		return fmt.Errorf("calibration: a map of levels has %d and %d knots from %d rows; both numbers must be equal and at most %d, from at least %d rows", len(l.From), len(l.To), l.Rows, mostKnots, leastRows)
	}
	for i := range len(l.From) + 1 {
		u0, u1, p0, p1 := l.segment(i)
		slope := (p1 - p0) / (u1 - u0)
		if !(u1 > u0 && p1 > p0 && slope >= leastSlope && slope <= mostSlope) {
			return fmt.Errorf("calibration: the map of levels does not rise from (%g, %g) to (%g, %g) by a slope between %g and %g", u0, p0, u1, p1, leastSlope, mostSlope)
		}
	}
	return nil
}
