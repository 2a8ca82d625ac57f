package table

import (
	"math"
	"strings"
	"unicode/utf8"
)

// A Style says how a column writes numbers that a program would take for text.
type Style string

const (
	PointStyle Style = "1,234.5" // groups between commas, a point before the fraction
	CommaStyle Style = "1.234,5" // groups between points, a comma before the fraction
)

// styles are tried in this order; a file with decimal commas tries the second first.
var styles = [...]Style{PointStyle, CommaStyle}

func (s Style) point() byte {
	if s == CommaStyle {
		return ','
	}
	return '.'
}

// currencies are signs and codes that may stand before or after an amount.
var currencies = []string{"$", "€", "£", "¥", "₹", "₽", "₩", "₺", "₴", "₫", "₪", "₱", "฿", "US$", "A$", "C$", "R$",
	"USD", "EUR", "GBP", "CHF", "JPY", "CNY", "INR", "AUD", "CAD", "SEK", "NOK", "DKK", "PLN", "BRL", "ZAR", "MXN", "Rs.", "Rs", "kr", "Kč", "zł"}

// parse reads a number with grouped thousands, a currency or a percent sign. Whole
// groups have three digits, so 7,637 is not 7.637 in a column of this style. The unit
// is the sign that stood there, "" without one.
func (s Style) parse(text string) (v float64, unit string, ok bool) {
	t := strings.TrimSpace(text)
	negative := false
	if strings.HasPrefix(t, "(") && strings.HasSuffix(t, ")") { // as accountants write
		t, negative = t[1:len(t)-1], true
	}
	sign := func() {
		for _, minus := range []string{"-", "−"} {
			if rest, is := strings.CutPrefix(t, minus); is && !negative {
				t, negative = strings.TrimSpace(rest), true
			}
		}
	}
	sign()
	t, unit = cutUnit(t)
	sign()
	plain, ok := s.ungroup(strings.TrimPrefix(t, "+"))
	if !ok {
		return 0, "", false
	}
	v, n := scanFloat(plain, '.')
	if n != len(plain) || math.IsInf(v, 0) {
		return 0, "", false
	}
	if negative {
		v = -v
	}
	return v, unit, true
}

// cutUnit removes a currency or a percent sign.
func cutUnit(t string) (rest, unit string) {
	for _, percent := range []string{"%", "‰"} {
		if rest, is := strings.CutSuffix(t, percent); is {
			return strings.TrimRight(rest, " \u00a0\u202f"), percent
		}
	}
	for _, c := range currencies {
		if len(c) <= len(unit) {
			continue
		}
		if r, is := strings.CutPrefix(t, c); is {
			rest, unit = r, c
		} else if r, is := strings.CutSuffix(t, c); is {
			rest, unit = r, c
		}
	}
	if unit == "" {
		return t, ""
	}
	return strings.Trim(rest, " \u00a0\u202f"), unit
}

// ungroup removes what parts groups of digits and writes the fraction with a point.
func (s Style) ungroup(t string) (plain []byte, ok bool) {
	whole, fraction, split := strings.Cut(t, string(rune(s.point())))
	var parts rune // what parts the groups
	digits, groups := 0, 0
	for _, r := range whole {
		switch {
		case '0' <= r && r <= '9':
			plain = append(plain, byte(r))
			digits++
		case s.grouping(r) && (parts == 0 || r == parts):
			// The first group has one to three digits, the others three; in India, two.
			if digits == 0 || digits > 3 || groups > 0 && digits < 2 || groups == 0 && plain[0] == '0' {
				return nil, false
			}
			parts = r
			digits = 0
			groups = groups + 1
		default:
			return nil, false
		}
	}
	if groups > 0 && digits != 3 {
		return nil, false
	}
	if split {
		plain = append(append(plain, '.'), fraction...)
	}
	return plain, len(plain) > 0 && strings.Trim(fraction, "0123456789") == "" && (len(whole) > 0 || len(fraction) > 0)
}

func (s Style) grouping(r rune) bool {
	switch r {
	case '\'', '’', ' ', '\u00a0', '\u202f', '\u2009':
		return true
	case ',':
		return s == PointStyle
	case '.':
		return s == CommaStyle
	}
	return false
}

// A spread is the mean, the deviation and the range of some numbers.
type spread struct {
	n                  int
	mean, m2, min, max float64
}

func (s *spread) add(v float64) {
	if s.n == 0 {
		s.min, s.max = v, v
	}
	s.n++
	d := v - s.mean // Welford: nothing cancels
	s.mean += d / float64(s.n)
	s.m2 += d * (v - s.mean)
	s.min, s.max = min(s.min, v), max(s.max, v)
}

// A styled column is the numbers of a column if all its texts are numbers of a style.
type styled struct {
	spread
	style            Style
	unit             string
	example          string // a text
	exampleValue     float64
	percent, without bool               // some numbers have a percent sign, some others do not
	bare             bool               // some numbers have no unit
	mixed            string             // which units are mixed; "": none
	units            map[string]float64 // and a number of each; some of many
	varied           bool               // a unit stands beside different numbers
	unitAt, bareAt   sighting           // a cell with the unit, a text without
	mixedAt          [2]sighting        // cells with units that are mixed
	convert          string             // what they must be converted to, such as currency
	failed           bool
	sample           sample
}

func (s *styled) addNumber(v float64, point byte) {
	// Where points stand before fractions, 2.000 beside 1.234,5 was read as 2.
	s.failed = s.failed || s.style.point() != point && v != 0
	s.without, s.bare = s.without || v != 0, s.bare || v != 0
	s.add(v)
	s.sample.add(v)
}

func (s *styled) addText(at sighting) {
	text := at.text
	if s.failed || utf8.RuneCountInString(text) > 40 {
		s.failed = true
		return
	}
	v, unit, ok := s.style.measure(text)
	ok = ok && !(strings.ContainsAny(unit, "0123456789") && duration.MatchString(text)) // 1h 20m is not 1 of a unit
	s.failed = !ok
	if !ok {
		s.sample = sample{}
		return
	}
	s.add(v)
	s.sample.add(v)
	if isShare(unit) {
		s.percent = true
	} else {
		s.without = s.without || v != 0
	}
	if s.example == "" || math.Abs(v) > math.Abs(s.exampleValue) {
		s.example, s.exampleValue = text, v
	}
	s.addUnit(unit, v)
	if unit == "" {
		if v != 0 && s.bareAt.line == 0 {
			s.bareAt = at
		}
		s.bare = s.bare || v != 0
		return
	}
	if s.unit != "" && s.mixed == "" {
		s.mixed, s.mixedAt = conflict(s.unit, unit), [2]sighting{s.unitAt, at}
		switch {
		case s.mixed == "":
		case isCurrency(s.unit) && isCurrency(unit):
			s.convert = "currency"
		case isShare(s.unit) && isShare(unit):
			s.convert = "unit"
		}
	}
	if s.unit != unit {
		s.unit, s.unitAt = unit, at
	}
}

// ok reports whether all cells are numbers of the style, all in one unit.
func (s *styled) ok() bool { return !s.failed && s.mixture() == "" }
