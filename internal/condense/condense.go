// Package condense replaces rows by made-up ones that stand for them: the rows of every group of
// neighbours get the same mean and, among themselves, the same covariances, but none of them is a
// row that was given (random orthogonal matrix masking; Ting, Fienberg & Trottini 2008, here group
// by group, which Aggarwal & Yu 2004 call condensation). What learns from them finds the same
// dependences at every scale above a group.
package condense

import (
	"math"
	"slices"

	"utvi/rng"
)

// Rows are the rows to replace.
type Rows struct {
	// Numbers are columns of about unit size; NaN is missing. They are mixed.
	Numbers [][]float64
	// Tags are columns of few values, by numbers from 0. They are not mixed: a made-up row has
	// those of one row of its group.
	Tags [][]int
	// First are the tags, by their place, that rows of a group must share where possible, such as
	// classes.
	First int

	Weights []float64 // what each row counts for
}

// Len is the number of rows.
func (r Rows) Len() int { return len(r.Weights) }

// A Made is the rows that were made up.
type Made struct {
	Numbers [][]float64 // by column; NaN is missing
	From    []int       // the given row that each has its tags from
	Weights []float64
}

// Fewest is the smallest number of rows that are mixed with each other, if there are as many.
const Fewest = 5

// leastMade rows of a group carry a covariance.
const leastMade = 3

// Make makes up at most about so many rows. Its result depends on the key, the rows and their order.
func Make(key rng.Key, r Rows, most int) Made {
	n := r.Len()
	out := Made{Numbers: make([][]float64, len(r.Numbers))}
	if n == 0 {
		return out
	}
	share := min(1, float64(max(most, leastMade))/float64(n))
	size := max(Fewest, int(math.Ceil(leastMade/share)))
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	p := parter{Rows: r, size: size}
	p.part(all, 0)
	for g, rows := range p.groups {
		m := len(rows)
		if share < 1 {
			m = min(m, max(leastMade, int(math.Round(share*float64(m)))))
		}
		r.mix(key.Sub(uint64(g), 0x6d6978), rows, m, &out)
	}
	return out
}

// A parter parts rows into groups of neighbours.
type parter struct {
	Rows
	size   int // of the smallest group
	groups [][]int
}

// part halves rows at the median of the column that varies most, as long as halves are large enough.
func (p *parter) part(rows []int, depth int) {
	for tag := range p.Tags[:p.First] {
		if len(rows) >= 2*p.size && p.partTag(rows, tag, depth) {
			return
		}
	}
	const deepest = 200
	if len(rows) < 2*p.size || depth > deepest {
		p.groups = append(p.groups, rows)
		return
	}
	best, most := -1, 1e-12
	for j, x := range p.Numbers {
		if v := variance(x, rows); v > most {
			best, most = j, v
		}
	}
	tag := -1
	for j := range p.Tags {
		if v := p.impurity(j, rows); v > most {
			tag, most = j, v
		}
	}
	if tag >= 0 && p.partTag(rows, tag, depth) {
		return
	}
	if best < 0 {
		p.groups = append(p.groups, rows)
		return
	}
	x := p.Numbers[best]
	slices.SortStableFunc(rows, func(a, b int) int { return compare(x[a], x[b]) })
	half := len(rows) / 2
	p.part(rows[:half:half], depth+1)
	p.part(slices.Clone(rows[half:]), depth+1)
}

// compare puts missing numbers last.
func compare(a, b float64) int {
	switch {
	case a < b || b != b && a == a:
		return -1
	case a > b || a != a && b == b:
		return 1
	}
	return 0
}

// partTag parts rows by whether they have the most frequent tag; it reports whether both parts are
// large enough.
func (p *parter) partTag(rows []int, tag, depth int) bool {
	count := map[int]int{}
	top := p.Tags[tag][rows[0]]
	for _, i := range rows {
		t := p.Tags[tag][i]
		count[t]++
		if count[t] > count[top] {
			top = t
		}
	}
	with := count[top]
	if with < p.size || len(rows)-with < p.size {
		return false
	}
	var in, out []int
	for _, i := range rows {
		if p.Tags[tag][i] == top {
			in = append(in, i)
		} else {
			out = append(out, i)
		}
	}
	p.part(in, depth+1)
	p.part(out, depth+1)
	return true
}

// impurity is the probability that two rows differ in a tag.
func (p *parter) impurity(tag int, rows []int) float64 {
	count := map[int]float64{}
	for _, i := range rows {
		count[p.Tags[tag][i]]++
	}
	n := float64(len(rows))
	var most float64
	for _, c := range count {
		most = max(most, c)
	}
	return 2 * most / n * (1 - most/n) // of the split that partTag makes
}

// variance is that of the numbers that rows have.
func variance(x []float64, rows []int) float64 {
	var n, mean float64
	for _, i := range rows {
		if v := x[i]; v == v {
			n++
			mean += v
		}
	}
	if n < 2 {
		return 0
	}
	mean /= n
	var sum float64
	for _, i := range rows {
		if v := x[i]; v == v {
			sum += (v - mean) * (v - mean)
		}
	}
	return sum / float64(len(rows))
}
