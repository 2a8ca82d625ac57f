package schema

import (
	"cmp"
	"fmt"
	"slices"

	"utvi/internal/advice"
	"utvi/internal/notation"
)

// warn adds a text to the warning of a column.
func (c *Column) warn(text string) {
	if text != "" && c.advice.String() != "" {
		c.advice = advice.New("%v; %s", c.advice, text)
	}
	c.Warning = also(c.Warning, text)
}

// advise adds advice to the warning of a column, with settings for its readers to spell.
func (c *Column) advise(s advice.Sentence) {
	c.advice = s
	if c.Warning != "" { // text: only the decimal mark of a column is advice
		c.advice = advice.New("%s; %v", c.Warning, s)
	}
	c.Warning = also(c.Warning, s.String())
}

// Advice is the column's warning with the settings that it proposes.
func (c *Column) Advice() advice.Sentence {
	if c.advice.String() != c.Warning { // it proposes none, or was read from a file
		return advice.Plain(c.Warning)
	}
	return c.advice
}

// also joins two notes or warnings.
func also(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}

// warnNames says what is odd about a column of names: they are dates or numbers that a person
// would read in another way. It is "" otherwise. became says what is made of them.
func (in *inference) warnNames(p *profile, became string) string {
	if why := p.whyNotDates(in.head); why != "" {
		remedy := "spell all in one way"
		if p.spellings.others > 0 {
			remedy = "correct such cells, or leave them empty"
		}
		return fmt.Sprintf("%s, so %s; %s", why, became, remedy)
	}
	others := cmp.Or(p.warnNearlyNumbers(in.head, became), p.warnLookalikes(in.head, became))
	s := p.inUnits()
	if s == nil || !s.varied || len(s.units) > mostUnits {
		return others
	}
	a, b := s.examples(p.firstNumber)
	if b.text == "" {
		return others
	}
	return fmt.Sprintf("%s (%s), so %s; write all in one unit", s.mixture(), pairIn(in.head, a, b), became)
}

// warnCase names levels that differ only by case or blanks, "" if there are none. Of very many
// levels that may be so by chance.
func warnCase(levels []string, became string) string {
	const most = 100
	if len(levels) > most {
		return ""
	}
	first := map[string]string{}
	for _, l := range slices.Sorted(slices.Values(levels)) {
		plain := caseless(l)
		if other, known := first[plain]; known {
			return fmt.Sprintf("%s and %s differ only by case or blanks, but are read as two %s; write them in one way if they mean the same", notation.Quote(other), notation.Quote(l), became)
		}
		first[plain] = l
	}
	return ""
}
