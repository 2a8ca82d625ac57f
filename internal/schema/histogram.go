package schema

import (
	"errors"
	"fmt"
	"math"

	"utvi/table"
)

// A Histogram counts the values of one column.
type Histogram struct {
	Column string `json:"column"`

	// Counts are the counts of equal bins between From and To, for numbers; for
	// categories, of the column's levels in their order, then of all other values.
	Counts []int   `json:"counts"`
	From   float64 `json:"from,omitempty"`
	To     float64 `json:"to,omitempty"`
	Whole  bool    `json:"whole,omitempty"` // every number is a whole number
}

// bins is the most bins of a column of numbers.
const bins = 32

// Histograms reads rows once and counts the values of the inputs, of their standard
// deviations and of the targets. The rows must be those that s was learned from.
func (s *Schema) Histograms(rows table.Source) ([]Histogram, error) {
	find, err := s.finder(rows.Header())
	if err != nil {
		return nil, err
	}
	var all []counter
	for i := range s.Columns {
		c := &s.Columns[i]
		pos := find(c.Name)
		if pos < 0 || c.Type == Picture || c.Role != Input && c.Role != Target && c.Role != Std {
			continue
		}
		all = append(all, counter{column: c, pos: pos, levels: index(c.Levels), fine: map[float64]int{}})
	}
	err = table.Each(rows, func(c *table.Chunk) error {
		for i := range all {
			for row := range c.Rows() {
				all[i].add(c, row)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	out := make([]Histogram, len(all))
	for i := range all {
		out[i] = all[i].histogram()
	}
	return out, nil
}

// A counter counts one column.
type counter struct {
	column *Column
	pos    int
	levels map[string]int
	counts []int
	fine   map[float64]int // of whole numbers; nil: the column has others, or too many
}

func (k *counter) add(c *table.Chunk, row int) {
	if k.column.Type == Categorical {
		if k.counts == nil {
			k.counts = make([]int, len(k.column.Levels)+1)
		}
		at, ok := k.levels[k.column.Level(c, row, k.pos)]
		if !ok {
			at = len(k.column.Levels)
		}
		k.counts[at]++
		return
	}
	if k.counts == nil {
		k.counts = make([]int, bins)
	}
	v, ok := k.column.number(c, row, k.pos)
	if !ok {
		return
	}
	lo, hi := k.column.Min, k.column.Max
	at := int(bins * ((v - lo) / (hi - lo)))
	k.counts[min(max(at, 0), bins-1)]++
	if k.fine == nil {
		return
	}
	if k.fine[v]++; v != math.Trunc(v) || math.Abs(v) > 1<<53 || len(k.fine) > maxNumbers {
		k.fine = nil
	}
}

func (k *counter) histogram() Histogram {
	h := Histogram{Column: k.column.Name, Counts: k.counts}
	if k.column.Type == Categorical {
		return h
	}
	h.From = k.column.Min
	h.To = k.column.Max
	h.Whole = len(k.fine) > 0
	if h.Whole { // bins of equally many whole numbers
		step := math.Ceil((h.To - h.From + 1) / bins)
		n := math.Ceil((h.To - h.From + 1) / step)
		h.Counts = make([]int, int(n))
		for v, count := range k.fine {
			h.Counts[int((v-h.From)/step)] += count
		}
		h.From, h.To = h.From-0.5, h.From-0.5+n*step
	}
	return h
}

// Check reports a histogram that does not belong to a column of s.
func (h *Histogram) Check(s *Schema) error {
	for i := range s.Columns {
		c := &s.Columns[i]
		if c.Name != h.Column {
			continue
		}
		for _, n := range h.Counts {
			if n < 0 {
				return errors.New("a count is negative")
			}
		}
		if c.Type == Categorical && len(h.Counts) != len(c.Levels)+1 {
			return fmt.Errorf("there are %d counts for %d levels", len(h.Counts), len(c.Levels))
		}
		if c.Type != Categorical && (len(h.Counts) == 0 || len(h.Counts) > 1000 || !(h.From <= h.To) || math.IsInf(h.From, 0) || math.IsInf(h.To, 0)) {
			return errors.New("the bins are invalid")
		}
		return nil
	}
	return errors.New("the table has no such column")
}
