package table

import (
	"fmt"
	"slices"
	"time"
)

// spellings are the layouts of dates that no one layout fits: those that all cells fit up to
// the first one that fits none of them, and those that this one fits.
type spellings struct {
	layouts       []string
	first, second sighting
	strays        int // cells that fit no layout; the first of them is second
}

// addSpelling takes in a text that may be a date. fitted are the layouts of the texts before.
func (p *profile) addSpelling(fitted []*timed, at sighting) {
	const fewest = 10 // strays of which a column of names has more
	s := p.spellings
	switch {
	case s != nil:
		if slices.ContainsFunc(s.layouts, func(layout string) bool { _, err := time.Parse(layout, at.text); return err == nil }) {
			return
		}
		if s.strays++; s.strays == 1 {
			s.second = at
		}
		if s.strays > fewest && !s.mostly(p.texts) {
			p.spellings = nil
		}
	case len(fitted) > 0 && len(p.times) == 0:
		other := newTimed(at.text)
		p.spellings = &spellings{first: p.firstCell, second: at, strays: one(len(other) == 0)}
		for _, t := range append(other, fitted...) {
			p.spellings.layouts = append(p.spellings.layouts, t.layout)
		}
	}
}

// mostly reports whether so many texts are dates, but for a few.
func (s *spellings) mostly(texts int) bool { return 10*s.strays <= texts }

// undated says why a column of dates is not read as one, "" if it does not hold dates.
func (p *profile) undated(h *Header) string {
	s := p.spellings
	switch {
	case s == nil || p.numbers > 0 || !s.mostly(p.texts):
		return ""
	case s.strays > 0:
		return fmt.Sprintf("not all cells are dates (%s)", h.pair(s.first, s.second))
	}
	return fmt.Sprintf("the dates are spelled in two ways (%s)", h.pair(s.first, s.second))
}
