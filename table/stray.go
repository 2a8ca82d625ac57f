package table

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// mostly is how many numbers stand beside a text in a column of numbers.
const mostly = 9

// fewNumbers is how many different numbers may be names of categories, such as 4, 5, 6 beside CVT.
const fewNumbers = 10

// mixed recognises a column of numbers in which some texts stand, rather than
// categories some of which look like numbers.
func (p *profile) mixed(maxLevels int) bool {
	different := func(than int) bool { return p.numberCount == nil || len(p.numberCount) > than }
	if p.codes || p.texts == 0 {
		return false
	}
	return p.numbers > p.texts && different(maxLevels) || p.nearly() && different(fewNumbers)
}

// nearly reports whether nearly all cells are numbers. Marks such as - do not count.
func (p *profile) nearly() bool { return !p.codes && p.strays > 0 && p.numbers >= mostly*p.strays }

// stray is the error about a text in a column of numbers.
func (p *profile) stray(c *Column) error {
	ways := "ignore column " + c.Name + ", or name it as categorical"
	if c.Role == Target {
		ways = "or name column " + c.Name + " as categorical"
	}
	return fmt.Errorf("%s in a column of numbers; correct it or leave the cell empty, %s", p.firstText, ways)
}

// oddStrays says what is odd about names that are nearly all numbers, "" if they are not.
func (p *profile) oddStrays(h *Header, became string) string {
	if !p.nearly() {
		return ""
	}
	return fmt.Sprintf("nearly all cells are numbers, but %s is not, so %s; correct such cells or leave them empty", h.sees(p.firstCell), became)
}

// A lookalike is a text that people read as a number, and this package does not.
type lookalike string

const (
	durations lookalike = "durations"
	powers    lookalike = "numbers with powers of ten"
	errorBars lookalike = "numbers with errors"
	bounds    lookalike = "numbers, of which some are bounds"
	signs     lookalike = "numbers with a quote before or a minus behind them"
	scripts   lookalike = "numbers in the digits of another script"
)

var (
	duration = regexp.MustCompile(`^(P(\d+[YMWD])*(T(\d+([.,]\d+)?[HMS])+)?|-?\d+:[0-5]\d(:[0-5]\d([.,]\d+)?)?|(\d+([.,]\d+)? ?(d|days?|h|hrs?|hours?|m|mins?|minutes?|s|secs?|seconds?|ms)\b ?){1,4})$`)
	power    = regexp.MustCompile(`^[-+−]?\d+([.,]\d+)? ?[×xX*·] ?10(\^|\*\*|[⁰¹²³⁴⁵⁶⁷⁸⁹⁻])`)
	signed   = regexp.MustCompile(`^(['’][-+−]?\d+([.,]\d+)*|\d+([.,]\d+)*[-−])$`)
	bound    = regexp.MustCompile(`^([<>≤≥]=? ?\d+([.,]\d+)?|\d+([.,]\d+)?\+)$`)
)

func likeNumber(s string) lookalike {
	switch {
	case len(s) > 40 || !strings.ContainsFunc(s, unicode.IsDigit):
	case duration.MatchString(s):
		return durations
	case power.MatchString(s):
		return powers
	case strings.Contains(s, "±"):
		return errorBars
	case bound.MatchString(s):
		return bounds
	case signed.MatchString(s):
		return signs
	case strings.TrimFunc(s, func(r rune) bool { return unicode.IsDigit(r) || strings.ContainsRune(".,．，٫+-", r) }) == "":
		if strings.ContainsFunc(s, func(r rune) bool { return unicode.IsDigit(r) && r > '9' }) {
			return scripts
		}
	}
	return ""
}

// lookalikes counts such texts.
type lookalikes struct {
	n    int
	kind lookalike // of the first
	at   sighting
}

// addLookalike takes in a text. A column of names is told by its first hundred.
func (p *profile) addLookalike(at sighting) {
	l := &p.like
	if p.texts > 100 && 2*l.n < p.texts {
		return
	}
	kind := likeNumber(at.text)
	if kind == "" {
		return
	}
	if l.n++; l.n == 1 {
		l.kind, l.at = kind, at
	}
}

// oddLookalikes says that names look like numbers, "" if they do not: at least nine of ten must.
func (p *profile) oddLookalikes(h *Header, became string) string {
	l := p.like
	all := p.numbers + p.texts
	if l.n == 0 || 10*(l.n+p.numbers) < 9*all || l.kind == bounds && p.numbers == 0 {
		return ""
	}
	return fmt.Sprintf("the cells look like %s, such as %s, but are not read as numbers, so %s; write them as plain numbers", l.kind, h.sees(l.at), became)
}

// untold is the error about a target of dates or durations, nil if it is none, or if the user
// calls it names.
func (in *inference) untold(c *Column, p *profile) error {
	what, cell := "", p.firstCell
	switch {
	case in.Task == Classification || slices.Contains(in.Categorical, c.Name):
	case p.time != nil || p.undated(in.head) != "":
		what = "dates or times"
	case p.texts > 0 && p.like.kind == durations && p.oddLookalikes(in.head, "") != "":
		what = "durations"
	case p.texts == 0 && p.style == nil && p.compact() && in.Task == "":
		what, cell = "dates", p.firstNumber
	}
	if what == "" {
		return nil
	}
	return fmt.Errorf("%s: the target %s holds %s (%s), which cannot be predicted; write them as numbers, such as days or minutes, or name the column as categorical", in.head.File, c.Name, what, in.head.sees(cell))
}
