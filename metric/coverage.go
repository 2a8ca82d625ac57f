package metric

import (
	"fmt"
	"math"
)

// Coverage counts how often intervals contain their target, and how wide they are. The
// zero value is empty.
type Coverage struct {
	held, width mean
	unbounded   int
}

// Add adds the interval [lo, hi] of a row with target y.
func (c *Coverage) Add(y, lo, hi, weight float64) { c.AddIn(0, y, lo, hi, weight) }

// AddIn is Add for a row in a group.
func (c *Coverage) AddIn(g Group, y, lo, hi, weight float64) {
	c.add(g, lo <= y && y <= hi, hi-lo, weight)
}

func (c *Coverage) add(g Group, held bool, width, weight float64) {
	checkWeight(weight)
	if weight == 0 {
		return
	}
	hit := 0.0
	if held {
		hit = 1
	}
	c.held.addIn(g, hit, weight)
	if math.IsInf(width, 1) {
		c.unbounded++
		return
	}
	c.width.add(width, weight)
}

// Merge adds the rows of o.
func (c *Coverage) Merge(o *Coverage) {
	c.held.merge(&o.held)
	c.width.merge(&o.width)
	c.unbounded += o.unbounded
}

// CoverageScore says how often intervals of a level contained their target.
type CoverageScore struct {
	Level     float64
	Coverage  float64
	Low       float64 // with High, Wilson's 95 % interval of the coverage
	High      float64 // (1927), from (Σw)²/Σw² rows, or fewer if those of a group are alike
	Width     float64 // the mean: +∞ (null in JSON) if one of them is
	Unbounded int     // rows with an infinite interval
	Groups    int     // of rows; 0: rows are taken as independent
}

// Rows is how many independent rows Low and High stand for, 0 if they leave everything open.
func (s CoverageScore) Rows() float64 {
	for _, end := range [...]float64{s.Low, s.High} {
		if d := s.Coverage - end; d != 0 && end > 0 && end < 1 {
			return normal95 * normal95 * end * (1 - end) / (d * d)
		}
	}
	return 0
}

// Band says where the coverage lies, in per cent.
func (s CoverageScore) Band() string {
	text := fmt.Sprintf("95 %% within %.1f … %.1f", 100*s.Low, 100*s.High)
	switch {
	case s.Groups == 1:
		text += ", from 1 group"
	case s.Groups > 1:
		text += fmt.Sprintf(", from %d groups", s.Groups)
	}
	return text
}

// Within reports whether the level lies between Low and High: the intervals are
// consistent with their level.
func (s CoverageScore) Within() bool { return s.Low <= s.Level && s.Level <= s.High }

// Score returns the coverage, for intervals of the given level.
func (c *Coverage) Score(level float64) CoverageScore {
	share := c.held.value()
	low, high := Wilson(share, c.held.rowsOfShare())
	width := c.width.value()
	if c.unbounded > 0 {
		width = math.Inf(1)
	}
	return CoverageScore{level, share, low, high, width, c.unbounded, len(c.held.parts)}
}

// normal95 is the quantile of the Normal between whose ± lie 95 %.
const normal95 = 1.959963984540054

// Wilson returns the 95 % score interval of a probability, given the share seen in n
// trials (Wilson 1927). Unlike share ± 1.96·√(share·(1−share)/n), it keeps its level
// near 0 and 1 and for small n.
func Wilson(share, n float64) (low, high float64) {
	if !(n > 0) {
		return 0, 1
	}
	t := normal95 * normal95 / n
	centre := (share + t/2) / (1 + t)
	half := math.Sqrt(t*(share*(1-share)+t/4)) / (1 + t)
	return max(min(centre-half, share), 0), min(max(centre+half, share), 1) // despite rounding
}
