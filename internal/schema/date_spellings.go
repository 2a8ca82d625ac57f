package schema

import (
	"fmt"
	"slices"
	"time"

	"utvi/table"
)

// dateSpellings are the layouts of dates that no one layout fits: those that all cells fit up to
// the first one that fits none of them, and those that this one fits.
type dateSpellings struct {
	layouts       []string
	first, second example
	others        int // cells that fit no layout; the first of them is second
}

// addSpelling takes in a text that may be a date. before are the layouts of the texts before.
func (p *profile) addSpelling(before []*times, at example) {
	s := p.spellings
	switch {
	case s != nil:
		s.add(at)
		const fewest = 10 // other cells of which a column of names has more
		if s.others > fewest && !s.mostlyDates(p.texts) {
			p.spellings = nil
		}
	case len(before) > 0 && len(p.times) == 0:
		fitting := timesLike(at.text)
		p.spellings = &dateSpellings{first: p.firstCell, second: at}
		if len(fitting) == 0 {
			p.spellings.others = 1
		}
		for _, t := range append(fitting, before...) {
			p.spellings.layouts = append(p.spellings.layouts, t.layout)
		}
	}
}

func (s *dateSpellings) add(at example) {
	if slices.ContainsFunc(s.layouts, func(layout string) bool { _, err := time.Parse(layout, at.text); return err == nil }) {
		return
	}
	s.others++
	if s.others == 1 {
		s.second = at
	}
}

// mostlyDates reports whether so many texts are dates, but for a few.
func (s *dateSpellings) mostlyDates(texts int) bool { return 10*s.others <= texts }

// whyNotDates says why a column of dates is not read as one, "" if it does not hold dates.
func (p *profile) whyNotDates(h *table.Header) string {
	s := p.spellings
	switch {
	case s == nil || p.numbers > 0 || !s.mostlyDates(p.texts):
		return ""
	case s.others > 0:
		return fmt.Sprintf("not all cells are dates (%s)", pairIn(h, s.first, s.second))
	}
	return fmt.Sprintf("the dates are spelled in two ways (%s)", pairIn(h, s.first, s.second))
}
