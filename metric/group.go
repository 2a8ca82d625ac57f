package metric

import (
	"hash/fnv"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// A Group is rows whose errors go together, such as the visits of one patient. Chance then
// moves a score by whole groups, and its standard error follows from how the groups differ.
// The zero value is no group: a row that is independent of the others. Either all rows of an
// accumulator are in groups, or none.
type Group uint32

// GroupOf returns the group of a name. There are 2¹⁶ of them, so that memory has a bound;
// names that share one are taken as a larger group, which is as independent of the others.
func GroupOf(name string) Group {
	h := fnv.New64a()
	h.Write([]byte(name))
	return Group(h.Sum64()%(1<<16)) + 1
}

// part is a group's part of a mean: Σ w and Σ w d.
type part struct{ w, x float64 }

// addIn adds a value of a row in a group.
func (m *mean) addIn(g Group, x, w float64) {
	m.add(x, w)
	if g == 0 {
		return
	}
	if m.parts == nil {
		m.parts = map[Group]part{}
	}
	p := m.parts[g]
	m.parts[g] = part{p.w + w, p.x + w*(x-m.first)}
}

// mergeParts adds the groups of o, whose values count from another first one.
func (m *mean) mergeParts(o *mean, shift float64) {
	if m.parts == nil && o.parts != nil {
		m.parts = map[Group]part{}
	}
	for g, p := range o.parts {
		q := m.parts[g]
		m.parts[g] = part{q.w + p.w, q.x + p.x + shift*p.w}
	}
}

// seOfGroups is the standard error by leaving out one group after another:
// √( (G−1)/G · Σ (mean without the group − mean)² ), NaN for fewer than two groups.
func (m *mean) seOfGroups() float64 {
	n := float64(len(m.parts))
	if n < 2 {
		return math.NaN()
	}
	d, sum := m.x/m.w, 0.0
	for _, g := range slices.Sorted(maps.Keys(m.parts)) { // in one order: the same bits every time
		p := m.parts[g]
		e := (p.x - d*p.w) / (m.w - p.w)
		sum += e * e
	}
	return math.Sqrt((n - 1) / n * sum)
}

// rowsOfShare is how many independent rows of equal weight would know a share as well:
// share·(1−share)/se², with Student's quantile in place of the Normal one, since few groups
// know se only roughly (Korn and Graubard 1998). It is at most that of the rows. If all
// groups agree, nothing shows that they differ less than rows of one group: each counts as one
// row.
func (m *mean) rowsOfShare() float64 {
	n := float64(len(m.parts))
	if m.parts == nil {
		return m.rows()
	}
	if n < 2 {
		return 0
	}
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.Quantile(0.975)
	few := normal95 * normal95 / (t * t)
	if se := m.seOfGroups(); se > 0 {
		share := m.value()
		return min(m.rows(), share*(1-share)/(se*se)*few)
	}
	var w2 float64
	for _, g := range slices.Sorted(maps.Keys(m.parts)) {
		w2 += m.parts[g].w * m.parts[g].w
	}
	return m.w * m.w / w2 * few
}
