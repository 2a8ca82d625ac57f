package table

import (
	"cmp"
	"slices"
	"strings"

	"utvi/internal/fractions"
	"utvi/internal/notation"
)

// evidence is what the first cells of a column say about how it writes fractions: a cell that can
// be read in one way only decides, 1,234 and 1.234 can be read in two.
type evidence struct {
	comma, point           string // the first cell that needs a comma, or a point, before fractions
	groups                 bool   // a comma groups thousands in some cell that needs a point
	eitherComma, eitherDot string // the first cell such as 1,234, and such as 1.234
	small, large           bool   // whole numbers of up to three digits, and of more
}

// longestNumber is the length of cells that may be numbers.
const longestNumber = 40

// add takes in a cell.
func (e *evidence) add(s string) {
	comma := strings.Contains(s, ",")
	dot := strings.Contains(s, ".")
	switch {
	case len(s) > longestNumber || len(s) == 0:
	case !comma && !dot:
		e.addWhole(s)
	case !comma && e.point != "", !dot && e.comma != "" && strings.Count(s, ",") == 1:
		// It says what is known.
	default:
		e.addFraction(s, comma)
	}
}

// addWhole takes in a cell that may be a whole number without separators.
func (e *evidence) addWhole(s string) {
	digits := strings.TrimLeft(s, "+-")
	if strings.Trim(digits, "0123456789") != "" {
		return
	}
	if len(digits) <= 3 {
		e.small = true
	} else {
		e.large = true
	}
}

// addFraction takes in a cell with a comma or a point.
func (e *evidence) addFraction(s string, comma bool) {
	byComma := notation.CommaStyle.Reads(s)
	byPoint := notation.PointStyle.Reads(s)
	switch {
	case byComma && byPoint && comma:
		e.eitherComma = cmp.Or(e.eitherComma, s)
	case byComma && byPoint:
		e.eitherDot = cmp.Or(e.eitherDot, s)
	case byComma:
		e.comma = cmp.Or(e.comma, s)
	case byPoint:
		e.point = cmp.Or(e.point, s)
		e.groups = e.groups || comma
	}
}

// sure is what stands before fractions if the cells of the column leave no choice, 0 if they do.
func (e *evidence) sure() byte {
	switch {
	case e.point != "":
		return '.' // beside commas, too: such a column is wrong, and its cells will be named
	case e.comma != "":
		return ','
	}
	return 0
}

// either is a cell that can be read in two ways, "" without one.
func (e *evidence) either() string { return cmp.Or(e.eitherComma, e.eitherDot) }

// thousands reports whether commas probably group thousands: smaller numbers have none, and
// larger numbers all have some.
func (e *evidence) thousands() bool { return e.eitherComma != "" && e.small && !e.large }

// against is what the cells of a file say beside a training table: what stands before fractions
// if there is no choice, else 0. Points that would have to be read as thousands, which training
// never showed, leave none.
func (e *evidence) against(t fractions.Trained) byte {
	if !t.Grouped && t.Point == ',' && e.sure() == 0 && e.eitherComma == "" && e.eitherDot != "" {
		return '.'
	}
	return e.sure()
}

// example is a cell that shows how the column is read, "" without one.
func (e *evidence) example(point byte) string {
	all := []string{e.comma, e.eitherComma, e.eitherDot}
	if point == '.' {
		all = []string{e.point, e.eitherDot, e.eitherComma}
	}
	at := slices.IndexFunc(all, func(s string) bool { return strings.ContainsAny(s, ",.") })
	if at < 0 {
		return ""
	}
	return all[at]
}

// A consensus is what the columns in use say together.
type consensus struct {
	commas, dots bool // some column is sure of a decimal comma, some of a point
	groups       bool // commas group thousands in some column
	thousands    bool // probably so in a column that leaves it open
}

func newConsensus(all []evidence, used func(col int) bool) (c consensus) {
	for col := range all {
		if !used(col) {
			continue
		}
		e := &all[col]
		c.commas = c.commas || e.sure() == ','
		c.dots = c.dots || e.sure() == '.'
		c.groups = c.groups || e.groups
		c.thousands = c.thousands || e.thousands()
	}
	return c
}

// decidePoints decides what stands before fractions in each column: what its cells say, else what
// those of the columns in use say. Without that, a comma in a file with semicolons is a decimal
// comma unless it probably groups thousands; guessed is set for a column that was decided so.
// Without guess, it is a decimal comma.
func decidePoints(all []evidence, delim byte, guess bool, used func(col int) bool) (points []byte, guessed []bool) {
	c := newConsensus(all, used)
	c.thousands = c.thousands && guess
	points = make([]byte, len(all))
	guessed = make([]bool, len(all))
	rest := byte('.') // of columns without fractions
	if c.commas && !c.dots {
		rest = ','
	}
	for col := range all {
		e := &all[col]
		switch {
		case e.sure() != 0:
			points[col] = e.sure()
		case e.eitherComma != "":
			points[col], guessed[col] = c.openComma(delim)
			if points[col] == ',' && !c.commas && used(col) {
				rest = ','
			}
		case e.eitherDot != "" && !(rest == ',' && e.small && !e.large):
			points[col] = '.'
			guessed[col] = c.commas && !c.dots // all others have decimal commas
		}
	}
	replace(points, 0, rest)
	return points, guessed
}

// replace puts one byte in the place of another.
func replace(all []byte, old, by byte) {
	for i, b := range all {
		if b == old {
			all[i] = by
		}
	}
}

// openComma decides about a column of cells such as 1,234.
func (c consensus) openComma(delim byte) (point byte, guessed bool) {
	switch {
	case c.commas:
		return ',', c.groups // a guess if commas also group thousands elsewhere
	case delim != ';' || c.groups:
		return '.', false
	case c.dots || c.thousands:
		return '.', true
	}
	return ',', true
}
