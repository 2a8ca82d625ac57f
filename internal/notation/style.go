package notation

import (
	"math"
	"strings"
	"unicode"
)

// A Style says how numbers are written that a program would take for text.
type Style string

// The two styles differ in what stands before the fraction.
const (
	PointStyle Style = "1,234.5" // groups between commas, a point before the fraction
	CommaStyle Style = "1.234,5" // groups between points, a comma before the fraction
)

// Point is what stands before the fraction.
func (s Style) Point() byte {
	if s == CommaStyle {
		return ','
	}
	return '.'
}

// StyleOf is the style with a point or a comma before the fraction.
func StyleOf(point byte) Style {
	if point == ',' {
		return CommaStyle
	}
	return PointStyle
}

// Reads reports whether a text is a number of the style, or one with an exponent.
func (s Style) Reads(text string) bool {
	if IsNumber(text, s.Point()) {
		return true
	}
	_, _, ok := s.Parse(text)
	return ok
}

// Parse reads a number with grouped thousands, a currency or a percent sign. Whole
// groups have three digits, so 7,637 is not 7.637 in a column of this style. The unit
// is the sign that stood there, "" without one.
func (s Style) Parse(text string) (v float64, unit string, ok bool) {
	t, negative := cutParentheses(strings.TrimSpace(text))
	t, negative = cutMinus(t, negative)
	t, unit = cutUnit(t)
	t, negative = cutMinus(t, negative)
	plain, ok := s.ungroup(strings.TrimPrefix(t, "+"))
	if !ok {
		return 0, "", false
	}
	v, n := ScanFloat(plain, '.')
	if n != len(plain) || math.IsInf(v, 0) {
		return 0, "", false
	}
	if negative {
		v = -v
	}
	return v, unit, true
}

// magnitudes are how people shorten amounts of money.
var magnitudes = map[string]string{"K": "e3", "k": "e3", "M": "e6", "m": "e6", "MM": "e6", "mm": "e6", "Mio": "e6", "mio": "e6",
	"B": "e9", "b": "e9", "bn": "e9", "Bn": "e9", "Mrd": "e9", "mrd": "e9", "T": "e12", "tn": "e12"}

// parseMoney reads an amount that is shortened, such as $1.01M or 303k €. Beside a currency such a
// letter has one meaning.
func (s Style) parseMoney(text string) (v float64, unit string, ok bool) {
	t, negative := cutParentheses(strings.TrimSpace(text))
	t, negative = cutMinus(t, negative)
	t, unit = cutUnit(t)
	t, negative = cutMinus(t, negative)
	end := strings.LastIndexFunc(t, unicode.IsDigit) + 1
	exponent := magnitudes[strings.TrimSpace(t[end:])]
	if !IsCurrency(unit) || exponent == "" {
		return 0, "", false
	}
	plain, ok := s.ungroup(t[:end])
	if !ok {
		return 0, "", false
	}
	v, n := ScanFloat(append(plain, exponent...), '.')
	if n != len(plain)+len(exponent) || math.IsInf(v, 0) {
		return 0, "", false
	}
	if negative {
		v = -v
	}
	return v, unit, true
}

// cutParentheses removes what accountants write around a negative number.
func cutParentheses(t string) (rest string, negative bool) {
	if strings.HasPrefix(t, "(") && strings.HasSuffix(t, ")") {
		return t[1 : len(t)-1], true
	}
	return t, false
}

// cutMinus removes a minus, unless the number is already known to be negative.
func cutMinus(t string, negative bool) (string, bool) {
	if negative {
		return t, true
	}
	for _, minus := range []string{"-", "−"} {
		if rest, is := strings.CutPrefix(t, minus); is {
			return strings.TrimSpace(rest), true
		}
	}
	return t, false
}

// ungroup removes what parts groups of digits and writes the fraction with a point.
func (s Style) ungroup(t string) (plain []byte, ok bool) {
	whole, fraction, split := strings.Cut(t, string(rune(s.Point())))
	plain, ok = s.joinGroups(whole)
	if !ok {
		return nil, false
	}
	if split {
		plain = append(plain, '.')
		plain = append(plain, fraction...)
	}
	return plain, len(plain) > 0 && strings.Trim(fraction, "0123456789") == "" && (len(whole) > 0 || len(fraction) > 0)
}

// joinGroups reads the digits before the fraction. The first group has one to three of them, the
// others three; in India, two, but for the last.
func (s Style) joinGroups(whole string) (plain []byte, ok bool) {
	var separator rune
	digits := 0 // of the group
	groups := 0 // before it
	for _, r := range whole {
		switch {
		case '0' <= r && r <= '9':
			plain = append(plain, byte(r))
			digits++
		case s.separates(r) && (separator == 0 || r == separator):
			if digits == 0 || digits > 3 || groups > 0 && digits < 2 || groups == 0 && plain[0] == '0' {
				return nil, false
			}
			separator = r
			digits = 0
			groups++
		default:
			return nil, false
		}
	}
	return plain, groups == 0 || digits == 3
}

// separates reports whether a character may stand between groups of digits.
func (s Style) separates(r rune) bool {
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
