// Package metric scores predictive distributions, one row after another. An accumulator
// takes rows, keeps sums and histograms, and returns its scores at any time. Rows may be
// weighted; accumulators of several data sets can be merged.
//
// A weighted mean m = Σ w x / Σ w has the standard error
//
//	√( n/(n−1) · Σ w² (x−m)² ) / Σ w
//
// which is s/√n for equal weights: how much another sample of rows would change it. For rows
// in groups, it is how much another sample of groups would (see Group).
package metric

import (
	"math"

	"utvi/internal/notation"
)

// A mean is a running weighted mean. Values are counted from the first, so that
// the squares cancel little.
type mean struct {
	n          int
	first      float64
	w, w2      float64 // Σ w, Σ w²
	x, x2, xx2 float64 // Σ w d, Σ w² d, Σ w² d², d = x − first
	parts      map[Group]part
}

func (m *mean) add(x, w float64) {
	if m.n == 0 {
		m.first = x
	}
	d := x - m.first
	m.n++
	m.w += w
	m.w2 += w * w
	m.x += w * d
	m.x2 += w * w * d
	m.xx2 += w * w * d * d
}

func (m *mean) merge(o *mean) {
	if o.n == 0 {
		return
	}
	if m.n == 0 {
		m.first = o.first
	}
	shift := o.first - m.first
	m.mergeParts(o, shift)
	m.n += o.n
	m.w += o.w
	m.w2 += o.w2
	m.x += o.x + shift*o.w
	m.x2 += o.x2 + shift*o.w2
	m.xx2 += o.xx2 + 2*shift*o.x2 + shift*shift*o.w2
}

// value is the mean, 0 of nothing.
func (m *mean) value() float64 {
	if m.n == 0 {
		return 0
	}
	return m.first + m.x/m.w
}

// se is the standard error of the mean, NaN for fewer than two values or groups.
func (m *mean) se() float64 {
	if m.parts != nil {
		return m.seOfGroups()
	}
	if m.n < 2 {
		return math.NaN()
	}
	d := m.x / m.w
	n := float64(m.n)
	return math.Sqrt(max(n/(n-1)*(m.xx2-2*d*m.x2+d*d*m.w2), 0)) / m.w
}

// rows is how many rows of equal weight would know as much: (Σw)²/Σw².
func (m *mean) rows() float64 {
	if m.n == 0 {
		return 0
	}
	return m.w * m.w / m.w2
}

// A Score is a mean over rows and its standard error. The error is NaN (null in JSON)
// for fewer than two rows.
type Score struct{ Value, SE float64 }

// String writes the score ± its standard error, if that is known.
func (s Score) String() string {
	if math.IsNaN(s.SE) {
		return notation.Short(s.Value, 4)
	}
	return notation.Short(s.Value, 4) + " ± " + notation.Short(s.SE, 2)
}

func (m *mean) score() Score { return Score{m.value(), m.se()} }

// root is the score of the root of a mean, its error by the slope of the root.
func (m *mean) root() Score {
	r := math.Sqrt(m.value())
	if r == 0 {
		return Score{0, m.se()}
	}
	return Score{r, m.se() / (2 * r)}
}

func checkWeight(w float64) {
	if !(w >= 0) || math.IsInf(w, 1) {
		panic("metric: a weight must be finite and ≥ 0")
	}
}
