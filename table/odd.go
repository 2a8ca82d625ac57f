package table

import (
	"cmp"
	"fmt"
)

// oddNames says what is odd about a column of names: they are dates or numbers that a person
// would read in another way. It is "" otherwise.
func (in *inference) oddNames(c *Column, p *profile, became string) string {
	if why := p.undated(in.head); why != "" {
		remedy := "spell all in one way"
		if p.spellings.strays > 0 {
			remedy = "correct such cells, or leave them empty"
		}
		return fmt.Sprintf("%s, so %s; %s", why, became, remedy)
	}
	others := cmp.Or(p.oddStrays(in.head, became), p.oddLookalikes(in.head, became))
	s := p.inUnits(in.point(c))
	if s == nil || !s.varied || len(s.units) > mostUnits {
		return others
	}
	a, b := s.examples(p.firstNumber)
	if b.text == "" {
		return others
	}
	return fmt.Sprintf("%s (%s), so %s; write all in one unit", s.mixture(), in.head.pair(a, b), became)
}
