package fit

import (
	"cmp"
	"slices"

	"utvi/data"
	"utvi/gauss"
	"utvi/internal/schema"
	"utvi/rng"
)

// mostLooked bounds the work of shuffling columns one by one: rows times inputs, summed over all times that
// the rows are predicted, but for fewestLooks of them. More columns than it allows are shuffled in
// blocks, and those of the blocks that matter most one by one.
const (
	mostLooked  = 200e6
	fewestLooks = 400
)

// looks is how often the rows are predicted to find out which columns matter.
func looks(x gauss.Batch[float32]) int {
	return max(fewestLooks, int(mostLooked/(float64(x.Rows)*float64(x.Width))))
}

// A shuffler finds what shuffling columns costs.
type shuffler struct {
	l       looker
	set     *data.Set
	columns []schema.Span
	seed    uint64
	x       gauss.Batch[float32]
	perm    []int
	base    float64
}

// importance is that of all columns, or of those that matter most if that many looks do not suffice.
func importance(l looker, set *data.Set, columns []schema.Span, seed uint64, looks int) []Importance {
	s := &shuffler{l: l, set: set, columns: columns, seed: seed, x: copyBatch(set.X), perm: make([]int, set.X.Rows)}
	s.base = logLikelihood(l, s.x, set.Y)
	var all []Importance
	if len(columns) <= looks {
		for k, c := range columns {
			all = append(all, Importance{c.Column.Name, s.loss(k, k+1)})
		}
	} else {
		for _, b := range s.divide(looks) {
			if b.hi-b.lo == 1 {
				all = append(all, Importance{columns[b.lo].Column.Name, b.loss})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Importance) int { return cmp.Compare(b.Loss, a.Loss) })
	return all
}

// loss is how much a row loses if columns lo to hi−1 are shuffled together.
func (s *shuffler) loss(lo, hi int) float64 {
	rng.Perm(rng.New(s.seed).Sub(uint64(lo), shufflings), s.perm)
	s.put(lo, hi, func(row int) int { return s.perm[row] })
	loss := s.base - logLikelihood(s.l, s.x, s.set.Y)
	s.put(lo, hi, func(row int) int { return row })
	return loss
}

// put gives each row the columns of another.
func (s *shuffler) put(lo, hi int, from func(row int) int) {
	for row := range s.perm {
		for _, c := range s.columns[lo:hi] {
			copyInputs(s.x, row, s.set.X, from(row), c)
		}
	}
}

// A shuffledBlock is columns lo to hi−1.
type shuffledBlock struct {
	lo, hi int
	loss   float64
}

// divide shuffles blocks of columns, and halves the one that costs most until it has looked so often. Blocks
// stay in the order of the columns.
func (s *shuffler) divide(looks int) []shuffledBlock {
	n := max(1, looks/4)
	var all []shuffledBlock
	for i := range n {
		b := shuffledBlock{lo: i * len(s.columns) / n, hi: (i + 1) * len(s.columns) / n}
		b.loss = s.loss(b.lo, b.hi)
		all = append(all, b)
	}
	for ; n+2 <= looks; n += 2 {
		most := -1
		for i, b := range all {
			if b.hi-b.lo > 1 && (most < 0 || b.loss > all[most].loss) {
				most = i
			}
		}
		if most < 0 {
			break
		}
		b := all[most]
		middle := (b.lo + b.hi) / 2
		halves := []shuffledBlock{{b.lo, middle, s.loss(b.lo, middle)}, {middle, b.hi, s.loss(middle, b.hi)}}
		all = slices.Replace(all, most, most+1, halves...)
	}
	return all
}
