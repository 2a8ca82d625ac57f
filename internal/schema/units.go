package schema

import (
	"fmt"
	"strings"

	"utvi/internal/notation"
)

// parse reads a number as the column writes it. A number may lack its unit; with another
// unit it is another number. ‰ is a tenth of %.
func (c *Column) parse(text string) (v float64, ok bool) {
	v, unit, ok := c.style().Measure(text)
	switch {
	case unit == "‰" && c.Unit == "%":
		return v / 10, ok
	case unit == "%" && c.Unit == "‰":
		return v * 10, ok
	}
	return v, ok && (unit == "" || notation.Conflict(unit, c.Unit) == "")
}

// mixture says which units are mixed in a column whose texts are all numbers of the style,
// "" if none are.
func (s *styledNumbers) mixture() string {
	switch {
	case s.failed:
		return ""
	case s.mixed != "":
		return s.mixed
	case s.percent && s.without:
		return "some numbers have a percent sign and others do not"
	case s.bare:
		return notation.Conflict(s.unit, "")
	}
	return ""
}

// mostUnits is how many units a column of numbers may mix: more of them are parts of names.
const mostUnits = 3

// countUnit counts units. Names such as 1st and 2nd have one number each.
func (s *styledNumbers) countUnit(unit string, v float64) {
	if s.units == nil {
		s.units = map[string]float64{}
	}
	if first, known := s.units[unit]; known {
		s.varied = s.varied || v != first
	} else if len(s.units) <= mostUnits {
		s.units[unit] = v
	}
}

// examples are two cells that show the mixture. bare is a number without a unit.
func (s *styledNumbers) examples(bare example) (a, b example) {
	if s.mixed != "" {
		return s.mixedAt[0], s.mixedAt[1]
	}
	if s.bareAt.line > 0 {
		bare = s.bareAt
	}
	return s.unitAt, bare
}

// inUnits returns the numbers of a column that mixes units, nil if it does not.
func (p *profile) inUnits() *styledNumbers {
	for _, s := range p.stylesInOrder() {
		if s == nil || s.mixture() == "" {
			continue
		}
		if strings.ContainsAny(s.mixture(), "0123456789") { // 2024 Q1 and 2024 Q2 are names
			return nil
		}
		for unit := range s.units { // and so are 2013 FAIL and 2013 PASS
			if !notation.IsLikely(unit) {
				return nil
			}
		}
		return s
	}
	return nil
}

// unitNote says why a column of numbers with units is read as names, "" if it is not one.
func (p *profile) unitNote() string {
	if s := p.inUnits(); s != nil {
		return s.mixture()
	}
	return ""
}

// mixedMoney is the error about amounts in several currencies, or shares in % and ‰, which are
// no names and cannot be compared.
func (in *inference) mixedMoney(c *Column, p *profile) error {
	for _, s := range p.styled {
		if p.texts > 0 && s != nil && !s.failed && s.convert != "" {
			return fmt.Errorf("%s, column %s: %s (%s); convert them to one %s, or ignore the column", in.head.File, c.Name, s.mixed, pairIn(in.head, s.mixedAt[0], s.mixedAt[1]), s.convert)
		}
	}
	return nil
}

// sampleNumber is how the column writes numbers.
func (c *Column) sampleNumber() string {
	switch {
	case notation.IsMeasure(c.Unit):
		return c.Style + " " + c.Unit
	case notation.IsCurrency(c.Unit):
		return c.Unit + c.Style
	}
	return c.Style
}
