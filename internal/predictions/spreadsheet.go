package predictions

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// inert writes texts so that spreadsheets show them and never run them: a text that begins like a
// formula gets an apostrophe in front, which spreadsheets take for "this is text". Names of
// columns and classes may come from strangers.
type inert struct{ lines }

func (l inert) Text(s string) {
	if runs(s) {
		s = "'" + s
	}
	l.lines.Text(s)
}

// runs reports whether a spreadsheet may take a cell for a formula. Signed numbers are numbers.
func runs(s string) bool {
	if s == "" {
		return false
	}
	if _, err := strconv.ParseFloat(s, 64); err == nil {
		return false
	}
	first, _ := utf8.DecodeRuneInString(s)
	return strings.ContainsRune("=+-@\t\r\n|＝＋－＠", first)
}
