package metric

import "math"

// Coverage counts how often intervals contain their target, and how wide they are. The
// zero value is empty.
type Coverage struct {
	held, width mean
	unbounded   int
}

// Add adds the interval [lo, hi] of a row with target y.
func (c *Coverage) Add(y, lo, hi, weight float64) { c.add(lo <= y && y <= hi, hi-lo, weight) }

func (c *Coverage) add(held bool, width, weight float64) {
	checkWeight(weight)
	if weight == 0 {
		return
	}
	hit := 0.0
	if held {
		hit = 1
	}
	c.held.add(hit, weight)
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
	High      float64 // (1927), from (Σw)²/Σw² rows
	Width     float64 // the mean: +∞ (null in JSON) if one of them is
	Unbounded int     // rows with an infinite interval
}

// Within reports whether the level lies between Low and High: the intervals are
// consistent with their level.
func (s CoverageScore) Within() bool { return s.Low <= s.Level && s.Level <= s.High }

// Score returns the coverage, for intervals of the given level.
func (c *Coverage) Score(level float64) CoverageScore {
	share := c.held.value()
	low, high := Wilson(share, c.held.rows())
	width := c.width.value()
	if c.unbounded > 0 {
		width = math.Inf(1)
	}
	return CoverageScore{level, share, low, high, width, c.unbounded}
}

// Wilson returns the 95 % score interval of a probability, given the share seen in n
// trials (Wilson 1927). Unlike share ± 1.96·√(share·(1−share)/n), it keeps its level
// near 0 and 1 and for small n.
func Wilson(share, n float64) (low, high float64) {
	if !(n > 0) {
		return 0, 1
	}
	const z = 1.959963984540054
	t := z * z / n
	centre := (share + t/2) / (1 + t)
	half := math.Sqrt(t*(share*(1-share)+t/4)) / (1 + t)
	return max(min(centre-half, share), 0), min(max(centre+half, share), 1) // despite rounding
}
