package schema

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"utvi/internal/advice"
	"utvi/table"
)

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

// lookalikeTests are tried in this order.
var lookalikeTests = []struct {
	is      lookalike
	matches func(string) bool
}{
	{durations, duration.MatchString},
	{powers, power.MatchString},
	{errorBars, func(s string) bool { return strings.Contains(s, "±") }},
	{bounds, bound.MatchString},
	{signs, signed.MatchString},
	{scripts, inOtherDigits},
}

// likeNumber returns what a text looks like, "" if it is no lookalike.
func likeNumber(s string) lookalike {
	const longest = 40
	if len(s) > longest || !strings.ContainsFunc(s, unicode.IsDigit) {
		return ""
	}
	for _, test := range lookalikeTests {
		if test.matches(s) {
			return test.is
		}
	}
	return ""
}

// inOtherDigits recognises numbers in digits other than 0 to 9.
func inOtherDigits(s string) bool {
	rest := strings.TrimFunc(s, func(r rune) bool { return unicode.IsDigit(r) || strings.ContainsRune(".,．，٫+-", r) })
	return rest == "" && strings.ContainsFunc(s, func(r rune) bool { return unicode.IsDigit(r) && r > '9' })
}

// lookalikes counts such texts.
type lookalikes struct {
	n    int
	kind lookalike // of the first
	at   example
}

// addLookalike takes in a text. A column of names is told by its first hundred.
func (p *profile) addLookalike(at example) {
	l := &p.like
	if p.texts > 100 && 2*l.n < p.texts {
		return
	}
	kind := likeNumber(at.text)
	if kind == "" {
		return
	}
	l.n++
	if l.n == 1 {
		l.kind, l.at = kind, at
	}
}

// looksLikeNumbers reports whether at least nine of ten cells are numbers or look like some.
func (p *profile) looksLikeNumbers() bool {
	l := &p.like
	all := p.numbers + p.texts
	return l.n > 0 && 10*(l.n+p.numbers) >= 9*all && !(l.kind == bounds && p.numbers == 0)
}

// warnLookalikes says that names look like numbers, "" if they do not.
func (p *profile) warnLookalikes(h *table.Header, became string) string {
	if !p.looksLikeNumbers() {
		return ""
	}
	return fmt.Sprintf("the cells look like %s, such as %s, but are not read as numbers, so %s; write them as plain numbers", p.like.kind, p.like.at.in(h), became)
}

// unpredictable is the error about a target of dates or durations, nil if it is none, or if the
// user calls it names.
func (in *inference) unpredictable(c *Column, p *profile) error {
	if in.Task == Classification || slices.Contains(in.Categorical, c.Name) {
		return nil
	}
	what := ""
	cell := p.firstCell
	switch {
	case p.time != nil || p.whyNotDates(in.head) != "":
		what = "dates or times"
	case p.texts > 0 && p.like.kind == durations && p.looksLikeNumbers():
		what = "durations"
	case p.texts == 0 && p.style == nil && p.holdsCompactDates() && in.Task == "":
		what = "dates"
		cell = p.firstNumber
	default:
		return nil
	}
	return advice.Errorf("%s: the target %s holds %s (%s), which cannot be predicted; write them as numbers, such as days or minutes, or %v", in.head.File, c.Name, what, cell.in(in.head), advice.Set("Categorical", c.Name))
}
