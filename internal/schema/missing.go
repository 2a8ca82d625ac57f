package schema

import (
	"fmt"
	"maps"
	"slices"

	"utvi/internal/notation"
	"utvi/table"
)

// A missingCell is a cell without a value: the first of several.
type missingCell struct {
	place string // where it stands, with a colon and a blank; "": there is none
	says  string // what stands there, "" if nothing does
	line  int
}

func missingAt(c *table.Chunk, row, col int, says string) missingCell {
	return missingCell{c.Errorf(row, col, "").Error(), says, c.Line(row)}
}

// earlier replaces the cell by one that stands before it.
func (m *missingCell) earlier(other missingCell) {
	if other.place != "" && (m.place == "" || other.line < m.line) {
		*m = other
	}
}

// sentence says that something is missing, and what stands in its place.
func (m *missingCell) sentence(what string) string { return m.place + isMissing(m.says, what) }

// isMissing says that something is missing; cell is what stands in its place.
func isMissing(cell, what string) string {
	if cell == "" {
		return fmt.Sprintf("the %s is missing", what)
	}
	return fmt.Sprintf("%s stands for a missing %s", notation.Quote(cell), what)
}

// missingError is the error about a missing value of a role that needs one.
func missingError(c *table.Chunk, row, col int, role Role) error {
	what := isMissing(c.Written(row, col), roleName[role])
	if role == Target {
		what += "; remove the row"
	}
	return c.Errorf(row, col, "%s", what)
}

// roleName is a role in words.
var roleName = map[Role]string{Target: "target", Weight: "weight", Std: "standard deviation"}

// A MissingValue is the error about an input that lacks values, if they are not imputed.
type MissingValue struct {
	What   string // where the first of them stands, and that it is missing
	Column string
}

// Error says where the value is missing, and what to do.
func (e *MissingValue) Error() string {
	return fmt.Sprintf("%s; impute missing values, or ignore column %s", e.What, e.Column)
}

// maybeNames counts missing cells that say something which may be a name, such as NA.
type maybeNames struct {
	n        int
	spelling map[string]int
	first    missingCell
}

func (m *maybeNames) add(at missingCell) {
	if m.spelling == nil {
		m.spelling = map[string]int{}
	}
	m.spelling[at.says]++
	m.n++
	m.first.earlier(at)
}

// addMissing takes in a cell without a value.
func (p *profile) addMissing(c *table.Chunk, row, col int) {
	p.missing++
	says := c.Written(row, col)
	na, none := notation.IsNA(says), notation.IsNone(says)
	if p.firstMissing.place != "" && !na && !none {
		return
	}
	at := missingAt(c, row, col, says)
	switch {
	case na:
		p.na.add(at)
	case none:
		p.none.add(at)
	default:
		p.firstMissing = at
	}
}

// isCountryCode reports whether a text is two capital letters, as codes of countries are.
func isCountryCode(s string) bool {
	return len(s) == 2 && 'A' <= s[0] && s[0] <= 'Z' && 'A' <= s[1] && s[1] <= 'Z'
}

// looksLikeCountries recognises a column of such codes, in which NA is one of them.
func (p *profile) looksLikeCountries() bool {
	const fewest = 3
	if p.na.n == 0 || p.numbers > 0 || len(p.textCount) < fewest || p.moreTexts {
		return false
	}
	for s := range p.textCount {
		if !isCountryCode(s) {
			return false
		}
	}
	return true
}

// noneLooksLikeName reports whether None is one of the names of a column: about as common as the
// others. Where it is rare, a program wrote it for a missing value.
func (p *profile) noneLooksLikeName() bool {
	return p.texts > 0 && p.numbers <= p.texts && !p.moreTexts && 2*p.none.n*len(p.textCount) >= p.texts
}

// makeNames makes names of missing cells.
func (p *profile) makeNames(m *maybeNames) {
	for s, n := range m.spelling {
		p.textCount[s] += n
	}
	p.texts += m.n
	p.missing -= m.n
	*m = maybeNames{}
}

// isName reports whether what stands for a missing value is a name in this column.
func (r *Reading) isName(c *table.Chunk, row, col int) bool {
	if !r.NA && !r.None {
		return false
	}
	says := c.Written(row, col)
	return r.NA && notation.IsNA(says) || r.None && notation.IsNone(says)
}

// placeholderList are the texts that stand for missing values, in order.
func (p *profile) placeholderList() []string {
	if len(p.placeholders) == 0 {
		return nil
	}
	return slices.Sorted(maps.Keys(p.placeholders))
}
