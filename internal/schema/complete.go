package schema

import (
	"fmt"
	"slices"

	"utvi/internal/notation"
	"utvi/table"
)

// WithTargets returns the rows of a frame (nil: all) whose targets are all given, and how many are
// not. A placeholder such as "-" is a missing value in a target of numbers.
func WithTargets(f *table.Frame, rows []int, targets []string) (kept []int, missing int) {
	kept, missing, _ = withTargets(f, rows, targets)
	return kept, missing
}

// MarkOfTarget is the first text that stands for a missing target, and where it stands; "" if
// missing targets are empty cells.
func MarkOfTarget(f *table.Frame, targets []string) string {
	_, _, first := withTargets(f, nil, targets)
	if first.says == "" {
		return ""
	}
	return fmt.Sprintf("%s (%s)", notation.Quote(first.says), first.place)
}

func withTargets(f *table.Frame, rows []int, targets []string) (kept []int, missing int, mark missingCell) {
	if rows == nil {
		rows = make([]int, f.Len())
		for i := range rows {
			rows[i] = i
		}
	}
	var at []int
	var as []Column
	for _, name := range targets {
		if col := f.Header().Column(name); col >= 0 { // otherwise Infer reports it
			at = append(at, col)
			as = append(as, targetOf(f, rows, col))
		}
	}
	kept = slices.DeleteFunc(slices.Clone(rows), func(row int) bool {
		c, r := f.At(row)
		for i, col := range at {
			if as[i].kindOf(c, r, col) == table.Missing {
				if says := c.Written(r, col); says != "" {
					mark.earlier(missingCell{c.Where(r), says, c.Line(r)})
				}
				return true
			}
		}
		return false
	})
	return kept, len(rows) - len(kept), mark
}

// targetOf says what is missing in a target.
func targetOf(f *table.Frame, rows []int, col int) Column {
	p := newProfile(f.Header(), col)
	for _, row := range rows {
		c, at := f.At(row)
		p.add(c, at, col)
	}
	p.settle()
	c := Column{Type: Categorical}
	if p.texts == 0 {
		c.Type = Numeric
	}
	c.NA = p.naIsName
	c.None = p.noneIsName
	return c
}
