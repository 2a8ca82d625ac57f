package schema

import (
	"math"
	"strings"
	"unicode/utf8"

	"utvi/internal/notation"
)

// styles are tried in this order; a file with decimal commas tries the second first.
var styles = [...]notation.Style{notation.PointStyle, notation.CommaStyle}

// styledNumbers are the numbers of a column if all its texts are numbers of a style.
type styledNumbers struct {
	spread
	sample           sample
	style            notation.Style
	failed           bool // some text is not such a number
	unit             string
	example          string // a text
	exampleValue     float64
	percent, without bool               // some numbers have a percent sign, some others do not
	bare             bool               // some numbers have no unit
	mixed            string             // which units are mixed; "": none
	units            map[string]float64 // and a number of each; some of many
	varied           bool               // a unit stands beside different numbers
	unitAt, bareAt   example            // a cell with the unit, a text without
	mixedAt          [2]example         // cells with units that are mixed
	convert          string             // what they must be converted to, such as currency
}

func (s *styledNumbers) addNumber(v float64, point byte) {
	// Where points stand before fractions, 2.000 beside 1.234,5 was read as 2.
	if v != 0 {
		s.failed = s.failed || s.style.Point() != point
		s.without = true
		s.bare = true
	}
	s.spread.add(v)
	s.sample.add(v)
}

func (s *styledNumbers) addText(at example) {
	if s.failed {
		return
	}
	v, unit, ok := s.read(at.text)
	if !ok {
		s.failed = true
		s.sample = sample{}
		return
	}
	s.spread.add(v)
	s.sample.add(v)
	if s.example == "" || math.Abs(v) > math.Abs(s.exampleValue) {
		s.example, s.exampleValue = at.text, v
	}
	if notation.IsShare(unit) {
		s.percent = true
	} else if v != 0 {
		s.without = true
	}
	s.countUnit(unit, v)
	if unit != "" {
		s.compareUnit(unit, at)
		return
	}
	if v != 0 {
		s.bare = true
		if s.bareAt.line == 0 {
			s.bareAt = at
		}
	}
}

// read reads a text as a number of the style.
func (s *styledNumbers) read(text string) (v float64, unit string, ok bool) {
	const longest = 40
	if utf8.RuneCountInString(text) > longest {
		return 0, "", false
	}
	v, unit, ok = s.style.Measure(text)
	if strings.ContainsAny(unit, "0123456789") && duration.MatchString(text) { // 1h 20m is not 1 of a unit
		return 0, "", false
	}
	return v, unit, ok
}

// compareUnit notes where the unit of a text cannot stand beside that of another.
func (s *styledNumbers) compareUnit(unit string, at example) {
	if s.unit != "" && s.mixed == "" {
		s.mixed = notation.Conflict(s.unit, unit)
		s.mixedAt = [2]example{s.unitAt, at}
		switch {
		case s.mixed == "":
		case notation.IsCurrency(s.unit) && notation.IsCurrency(unit):
			s.convert = "currency"
		case notation.IsShare(s.unit) && notation.IsShare(unit):
			s.convert = "unit"
		}
	}
	if s.unit != unit {
		s.unit, s.unitAt = unit, at
	}
}

// ok reports whether all cells are numbers of the style, all in one unit.
func (s *styledNumbers) ok() bool { return !s.failed && s.mixture() == "" }
