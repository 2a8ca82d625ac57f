package notation

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Label is the text of a number, the same however it was written: as a level,
// 1, 1.0 and 01 are one.
func Label(v float64) string {
	if v == 0 {
		v = 0 // no −0
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// Digits writes a number for people, without an exponent where that is short enough.
func Digits(v float64) string {
	if a := math.Abs(v); a >= 1e-4 && a < 1e15 {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return Label(v)
}

// Short rounds a number to n digits and writes it without an exponent where people would: 365400,
// not 3.654e+05.
func Short(v float64, n int) string {
	rounded := strconv.FormatFloat(v, 'g', n, 64)
	if a := math.Abs(v); a < 1e-4 || a >= 1e9 {
		return rounded
	}
	if !strings.Contains(rounded, "e") {
		return rounded
	}
	v, _ = strconv.ParseFloat(rounded, 64) // what FormatFloat wrote
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// Quote puts a text in quotes for a message, its end cut off. Blanks of any kind, such as those
// between thousands, are shown as blanks.
func Quote(s string) string {
	if utf8.ValidString(s) { // %q shows other bytes as they are
		s = strings.Map(func(r rune) rune {
			if unicode.Is(unicode.Zs, r) {
				return ' '
			}
			return r
		}, s)
	}
	if r := []rune(s); len(r) > 40 {
		s = string(r[:40]) + "…"
	}
	return fmt.Sprintf("%q", s)
}

// List names columns or classes, not more than a line of them.
func List(names []string) string {
	const most = 20
	if len(names) > most {
		return fmt.Sprintf("%s … (%d in all)", Join(names[:most]), len(names))
	}
	return Join(names)
}

// Join lists all names; those that hold a comma stand in quotes.
func Join(names []string) string {
	quoted := make([]string, len(names))
	for i, s := range names {
		quoted[i] = s
		if strings.Contains(s, ",") {
			quoted[i] = strconv.Quote(s)
		}
	}
	return strings.Join(quoted, ", ")
}

// Printable keeps control characters of a file off the terminal.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if !strconv.IsPrint(r) {
			return '·'
		}
		return r
	}, s)
}
