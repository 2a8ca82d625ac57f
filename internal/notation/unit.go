package notation

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// currencies are signs and codes that may stand before or after an amount.
var currencies = []string{"$", "€", "£", "¥", "₹", "₽", "₩", "₺", "₴", "₫", "₪", "₱", "฿", "US$", "A$", "C$", "R$",
	"USD", "EUR", "GBP", "CHF", "JPY", "CNY", "INR", "AUD", "CAD", "SEK", "NOK", "DKK", "PLN", "BRL", "ZAR", "MXN", "Rs.", "Rs", "kr", "Kč", "zł"}

// sameCurrency are further names of some of them.
var sameCurrency = map[string]string{"US$": "$", "USD": "$", "EUR": "€", "GBP": "£", "INR": "₹", "Rs": "₹", "Rs.": "₹",
	"AUD": "A$", "CAD": "C$", "BRL": "R$", "PLN": "zł", "JPY": "¥"}

// spaces may stand between a number and its unit.
const spaces = " \u00a0\u202f"

// IsCurrency reports whether a unit is money.
func IsCurrency(unit string) bool { return slices.Contains(currencies, unit) }

// IsShare reports whether a unit is a part of a hundred or a thousand.
func IsShare(unit string) bool { return unit == "%" || unit == "‰" }

// IsMeasure reports whether a unit is neither money nor a share, such as kg.
func IsMeasure(unit string) bool { return unit != "" && !IsShare(unit) && !IsCurrency(unit) }

// cutUnit removes a currency, the one of the longest name that fits, or a percent sign.
func cutUnit(t string) (rest, unit string) {
	for _, percent := range []string{"%", "‰"} {
		if rest, is := strings.CutSuffix(t, percent); is {
			return strings.TrimRight(rest, spaces), percent
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
	return strings.Trim(rest, spaces), unit
}

// cutMeasure removes a unit of measurement behind a number: whatever begins with a letter or
// a sign such as °.
func cutMeasure(t string) (rest, unit string) {
	const longest = 12
	at := strings.IndexFunc(t, func(r rune) bool { return unicode.IsLetter(r) || strings.ContainsRune("°′″", r) })
	if at <= 0 || utf8.RuneCountInString(t[at:]) > longest {
		return t, ""
	}
	return strings.TrimRight(t[:at], spaces), t[at:]
}

// Measure is Parse that also reads units of measurement, and amounts such as $1.01M. What stands
// before a word with a point, as in 1. Industrial, counts and measures nothing.
func (s Style) Measure(text string) (v float64, unit string, ok bool) {
	v, unit, ok = s.Parse(text)
	if ok {
		return v, unit, true
	}
	v, unit, ok = s.parseMoney(text)
	if ok {
		return v, unit, true
	}
	rest, measure := cutMeasure(strings.TrimSpace(text))
	if strings.HasSuffix(rest, ".") || strings.HasSuffix(rest, ",") {
		return 0, "", false
	}
	v, unit, ok = s.Parse(rest)
	if !ok || unit != "" || measure == "" {
		return 0, "", false
	}
	return v, measure, true
}

// longUnits are units of more than three letters.
var longUnits = []string{"mile", "miles", "hour", "hours", "days", "week", "weeks", "month", "months", "year", "years", "mins", "secs", "second",
	"seconds", "minute", "minutes", "inch", "inches", "feet", "yard", "yards", "gram", "grams", "litre", "litres", "liter", "liters", "tons", "tonne",
	"tonnes", "pound", "pounds", "kcal", "mmHg", "watt", "watts", "volt", "volts", "percent"}

// IsLikely reports whether a text behind a number is a unit rather than a word: it is short, known,
// or made of units.
func IsLikely(unit string) bool {
	return utf8.RuneCountInString(unit) <= 3 || slices.Contains(longUnits, unit) || strings.ContainsAny(unit, "/°²³·^")
}

// Conflict says why two units cannot stand in one column, "" if they can.
func Conflict(a, b string) string {
	switch {
	case a == b:
		return ""
	case IsMeasure(a) && b == "", IsMeasure(b) && a == "":
		return fmt.Sprintf("some numbers are in %s and others have no unit", a+b)
	case IsMeasure(a) || IsMeasure(b), IsShare(a) && IsShare(b), IsShare(a) && IsCurrency(b), IsCurrency(a) && IsShare(b):
		return fmt.Sprintf("some numbers are in %s and others in %s", a, b)
	case IsCurrency(a) && IsCurrency(b):
		a, b = oneName(a), oneName(b)
		if a != b {
			return fmt.Sprintf("some amounts are in %s and others in %s", a, b)
		}
	}
	return ""
}

// oneName is the usual name of a currency.
func oneName(currency string) string {
	if name, is := sameCurrency[currency]; is {
		return name
	}
	return currency
}
