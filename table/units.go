package table

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// same are names of one currency.
var same = map[string]string{"US$": "$", "USD": "$", "EUR": "€", "GBP": "£", "INR": "₹", "Rs": "₹", "Rs.": "₹",
	"AUD": "A$", "CAD": "C$", "BRL": "R$", "PLN": "zł", "JPY": "¥"}

// isCurrency reports whether a unit is money.
func isCurrency(unit string) bool {
	return slices.Contains(currencies, unit)
}

// isMeasure reports whether a unit is neither money nor a share, such as kg.
func isMeasure(unit string) bool {
	return unit != "" && !isShare(unit) && !isCurrency(unit)
}

// isShare reports whether a unit is a part of a hundred or a thousand.
func isShare(unit string) bool { return unit == "%" || unit == "‰" }

// cutMeasure removes a unit of measurement behind a number: whatever begins with a letter or
// a sign such as °.
func cutMeasure(t string) (rest, unit string) {
	const longest = 12
	at := strings.IndexFunc(t, func(r rune) bool { return unicode.IsLetter(r) || strings.ContainsRune("°′″", r) })
	if at <= 0 || utf8.RuneCountInString(t[at:]) > longest {
		return t, ""
	}
	return strings.TrimRight(t[:at], " \u00a0\u202f"), t[at:]
}

// measure is parse that also reads units of measurement.
func (s Style) measure(text string) (v float64, unit string, ok bool) {
	v, unit, ok = s.parse(text)
	if ok {
		return v, unit, ok
	}
	rest, measure := cutMeasure(strings.TrimSpace(text))
	v, unit, ok = s.parse(rest)
	if !ok || unit != "" || measure == "" {
		return 0, "", false
	}
	return v, measure, true
}

// conflict says why two units cannot stand in one column, "" if they can.
func conflict(a, b string) string {
	switch {
	case a == b:
		return ""
	case isShare(a) && isShare(b), isShare(a) && isCurrency(b), isCurrency(a) && isShare(b):
		return fmt.Sprintf("some numbers are in %s and others in %s", a, b)
	case isMeasure(a) || isMeasure(b):
		if a == "" || b == "" {
			return fmt.Sprintf("some numbers are in %s and others have no unit", a+b)
		}
		return fmt.Sprintf("some numbers are in %s and others in %s", a, b)
	case isCurrency(a) && isCurrency(b):
		if one, is := same[a]; is {
			a = one
		}
		if one, is := same[b]; is {
			b = one
		}
		if a != b {
			return fmt.Sprintf("some amounts are in %s and others in %s", a, b)
		}
	}
	return ""
}

// parse reads a number as the column writes it. A number may lack its unit; with another
// unit it is another number. ‰ is a tenth of %.
func (c *Column) parse(text string) (v float64, ok bool) {
	v, unit, ok := c.Style.measure(text)
	switch {
	case unit == "‰" && c.Unit == "%":
		return v / 10, ok
	case unit == "%" && c.Unit == "‰":
		return v * 10, ok
	}
	return v, ok && (unit == "" || conflict(unit, c.Unit) == "")
}

// mixture says which units are mixed in a column whose texts are all numbers of the style,
// "" if none are.
func (s *styled) mixture() string {
	switch {
	case s.failed:
		return ""
	case s.mixed != "":
		return s.mixed
	case s.percent && s.without:
		return "some numbers have a percent sign and others do not"
	case s.bare:
		return conflict(s.unit, "")
	}
	return ""
}

// mostUnits is how many units a column of numbers may mix: more of them are parts of names.
const mostUnits = 3

// addUnit counts units. Names such as 1st and 2nd have one number each.
func (s *styled) addUnit(unit string, v float64) {
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
func (s *styled) examples(bare sighting) (a, b sighting) {
	if s.mixed != "" {
		return s.mixedAt[0], s.mixedAt[1]
	}
	if s.bareAt.line > 0 {
		bare = s.bareAt
	}
	return s.unitAt, bare
}

// inUnits returns the numbers of a column that mixes units, nil if it does not.
func (p *profile) inUnits(point byte) *styled {
	for _, s := range p.ordered(point) {
		if s == nil || s.mixture() == "" {
			continue
		}
		if strings.ContainsAny(s.mixture(), "0123456789") { // 2024 Q1 and 2024 Q2 are names
			return nil
		}
		return s
	}
	return nil
}

// unitNote says why a column of numbers with units is read as names, "" if it is not one.
func (p *profile) unitNote(point byte) string {
	if s := p.inUnits(point); s != nil {
		return s.mixture()
	}
	return ""
}

// mixedMoney is the error about amounts in several currencies, or shares in % and ‰, which are
// no names and cannot be compared.
func (in *inference) mixedMoney(c *Column, p *profile) error {
	for _, s := range p.styled {
		if p.texts > 0 && s != nil && !s.failed && s.convert != "" {
			return fmt.Errorf("%s, column %s: %s (%s); convert them to one %s, or ignore the column", in.head.File, c.Name, s.mixed, in.head.pair(s.mixedAt[0], s.mixedAt[1]), s.convert)
		}
	}
	return nil
}

// example is how the column writes numbers.
func (c *Column) example() string {
	switch {
	case isMeasure(c.Unit):
		return string(c.Style) + " " + c.Unit
	case isCurrency(c.Unit):
		return c.Unit + string(c.Style)
	}
	return string(c.Style)
}
