package table

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"utvi/internal/notation"
	"utvi/rng"
)

// A Split says which rows are held out. Group and Time exclude each other; without
// either, rows are drawn, of each class in proportion.
type Split struct {
	Seed     uint64
	Fraction float64 // of the rows to hold out
	Group    string  // column whose groups stay whole
	Time     string  // column whose latest values are held out
	Class    string  // column of classes, each of which has its share of the drawn rows; "": rows are drawn from all
}

// Held is how many of so many rows, at least 2, are held out if no rows must stay together.
func (s Split) Held(rows int) int {
	return min(max(1, int(s.Fraction*float64(rows)+0.5)), rows-1)
}

// splitPurpose keeps the draws of splits apart from others of the same seed.
const splitPurpose = 0x73706c74 // "splt"

// Split divides rows (nil: all) into training rows and held-out rows, both in
// ascending order. The same seed gives the same parts.
func (f *Frame) Split(rows []int, s Split) (train, held []int, err error) {
	rows = f.orAll(rows)
	if !(s.Fraction > 0 && s.Fraction < 1) {
		return nil, nil, fmt.Errorf("the fraction of rows to hold out is %g; it must lie between 0 and 1", s.Fraction)
	}
	if len(rows) < 2 {
		return nil, nil, fmt.Errorf("%s: %d rows cannot be split into training and held-out rows", f.head.File, len(rows))
	}
	want := s.Held(len(rows))
	var order []int
	var whole func(a, b int) bool // rows that must not be parted
	switch {
	case s.Group != "" && s.Time != "":
		return nil, nil, errors.New("rows are split by groups or by time; name one of the columns, not both")
	case s.Group != "":
		order, whole, err = f.byGroup(rows, s)
	case s.Time != "":
		order, whole, err = f.byTime(rows, s.Time)
	default:
		whole = func(a, b int) bool { return false }
		order, err = f.drawn(rows, s)
	}
	if err != nil {
		return nil, nil, err
	}
	// The end of the order is held out, moved to where it parts nothing: to the
	// nearest such place, the smaller part winning.
	cut := nearestCut(order, len(order)-want, whole)
	if cut < 0 {
		return nil, nil, fmt.Errorf("%s: column %s has only one value; at least 2 are needed to hold rows out by it", f.head.File, cmp.Or(s.Group, s.Time))
	}
	train, held = slices.Clone(order[:cut]), slices.Clone(order[cut:])
	slices.Sort(train)
	slices.Sort(held)
	return train, held, nil
}

// Folds parts rows (nil: all) into n parts of about equal size, each in ascending order.
// Groups, where a column names them, stay whole; otherwise each part has its share of every class,
// where a column names these. The same seed gives the same parts.
func (f *Frame) Folds(rows []int, n int, s Split) ([][]int, error) {
	rows = f.orAll(rows)
	if n < 2 || n > len(rows) {
		return nil, fmt.Errorf("%s: %d folds of %d rows; there must be at least 2, and at most one for each row", f.head.File, n, len(rows))
	}
	whole := func(a, b int) bool { return false }
	var order []int
	var err error
	if s.Group != "" {
		order, whole, err = f.byGroup(rows, s)
	} else {
		order, err = f.drawn(rows, s)
	}
	if err != nil {
		return nil, err
	}
	parts := make([][]int, 0, n)
	for from := 0; from < len(order); {
		to := from + (len(order)-from+n-len(parts)-1)/max(1, n-len(parts))
		for to < len(order) && whole(order[to-1], order[to]) {
			to++
		}
		part := slices.Clone(order[from:to])
		slices.Sort(part)
		parts = append(parts, part)
		from = to
	}
	if len(parts) < n {
		return nil, fmt.Errorf("%s: column %s has too few groups for %d folds", f.head.File, s.Group, n)
	}
	return parts, nil
}

// nearestCut returns the place nearest to cut between two rows that may be parted,
// or −1.
func nearestCut(order []int, cut int, whole func(a, b int) bool) int {
	for d := range len(order) {
		for _, c := range []int{cut + d, cut - d} {
			if 0 < c && c < len(order) && !whole(order[c-1], order[c]) {
				return c
			}
		}
	}
	return -1
}

// drawn are the rows in an order that is drawn. Of each class, they are spread evenly over it, so
// that every part of the order holds about its share of the class.
func (f *Frame) drawn(rows []int, s Split) ([]int, error) {
	order := shuffled(rows, s.Seed)
	if s.Class == "" {
		return order, nil
	}
	col, err := f.head.Find([]string{s.Class}, 0, "class")
	if err != nil {
		return nil, err
	}
	class := make([]string, len(order))
	count := map[string]int{}
	for i, row := range order {
		c, at := f.At(row)
		class[i] = c.Level(at, col)
		count[class[i]]++
	}
	place := map[int]float64{}
	before := map[string]int{}
	for i, row := range order {
		place[row] = (float64(before[class[i]]) + 0.5) / float64(count[class[i]])
		before[class[i]]++
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(place[a], place[b]) })
	return order, nil
}

func shuffled(rows []int, seed uint64) []int {
	perm := make([]int, len(rows))
	rng.Perm(rng.New(seed).Sub(0, splitPurpose), perm)
	for i, p := range perm {
		perm[i] = rows[p]
	}
	return perm
}

// byGroup draws the order of the groups, and keeps the rows of each together.
func (f *Frame) byGroup(rows []int, s Split) (order []int, whole func(a, b int) bool, err error) {
	col, err := f.head.Find([]string{s.Group}, 0, "group")
	if err != nil {
		return nil, nil, err
	}
	members := map[string][]int{}
	var names []string
	group := func(row int) string {
		c, at := f.At(row)
		return c.Level(at, col)
	}
	for _, row := range rows {
		c, at := f.At(row)
		if k, _ := c.Cell(at, col); k == Missing {
			return nil, nil, c.Errorf(at, col, "the group is missing")
		}
		g := group(row)
		if members[g] == nil {
			names = append(names, g)
		}
		members[g] = append(members[g], row)
	}
	perm := make([]int, len(names))
	rng.Perm(rng.New(s.Seed).Sub(0, splitPurpose), perm)
	for _, p := range perm {
		order = append(order, members[names[p]]...)
	}
	return order, func(a, b int) bool { return group(a) == group(b) }, nil
}

// orAll returns the rows, or all for nil.
func (f *Frame) orAll(rows []int) []int {
	if rows != nil {
		return rows
	}
	rows = make([]int, f.rows)
	for i := range rows {
		rows[i] = i
	}
	return rows
}

// ByTime returns rows (nil: all) in the order of their times. Rows of one time keep
// their order.
func (f *Frame) ByTime(rows []int, column string) ([]int, error) {
	order, _, err := f.byTime(f.orAll(rows), column)
	return order, err
}

// byTime sorts rows by time.
func (f *Frame) byTime(rows []int, column string) (order []int, whole func(a, b int) bool, err error) {
	col, err := f.head.Find([]string{column}, 0, "time")
	if err != nil {
		return nil, nil, err
	}
	times, k := map[int]float64{}, f.clock(rows, col)
	for _, row := range rows {
		c, at := f.At(row)
		times[row], err = k.time(c, at, col)
		if err != nil {
			return nil, nil, err
		}
	}
	order = slices.Clone(rows)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(times[a], times[b]) })
	return order, func(a, b int) bool { return times[a] == times[b] }, nil
}

// A clock reads the times of a column: numbers, or texts of one layout.
type clock struct{ layouts []string } // that fit all texts, if any does

// clock finds the layout that fits all texts of a column.
func (f *Frame) clock(rows []int, col int) clock {
	k := clock{notation.TimeLayouts}
	for _, row := range rows {
		c, at := f.At(row)
		if k, _ := c.Cell(at, col); k != Text {
			continue
		}
		var left []string
		for _, l := range k.layouts {
			if _, err := time.Parse(l, c.Text(at, col)); err == nil {
				left = append(left, l)
			}
		}
		if left != nil { // the cell that fits no layout is named later
			k.layouts = left
		}
	}
	return k
}

// time reads a cell as a time: any number, or a date from the year to the second.
func (k clock) time(c *Chunk, row, col int) (float64, error) {
	kind, v := c.Cell(row, col)
	if kind == Number {
		return v, nil
	}
	s := c.Text(row, col)
	for _, layout := range append(k.layouts[:1:1], notation.TimeLayouts...) {
		if t, err := time.Parse(layout, s); err == nil {
			return notation.Seconds(t), nil
		}
	}
	if kind == Missing {
		return 0, c.Errorf(row, col, "the time is missing")
	}
	return 0, c.Errorf(row, col, "%s is not a time; write a number, or a date such as 2026-01-31 or 2026-01-31 15:04:05", notation.Quote(s))
}
