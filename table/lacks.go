package table

import "fmt"

// marked is the kind of a cell that says that its value is missing, such as NA. The column
// decides whether that is a name; Chunk.Cell returns Missing.
const marked = padded + 1

// A lack is a cell without a value: the first of several.
type lack struct {
	place string // where it stands, with a colon and a blank; "": there is none
	says  string // what stands there, "" if nothing does
	line  int
}

// or replaces a lack by one that stands before it.
func (l *lack) or(other lack) {
	if other.place != "" && (l.place == "" || other.line < l.line) {
		*l = other
	}
}

// missing says that something is missing, and what stands in its place.
func (l *lack) missing(what string) string { return l.place + isGone(l.says, what) }

func isGone(cell, what string) string {
	if cell == "" {
		return fmt.Sprintf("the %s is missing", what)
	}
	return fmt.Sprintf("%s stands for a missing %s", short(cell), what)
}

// A lacking counts missing cells that say something which may be a name.
type lacking struct {
	n     int
	as    map[string]int // how it is spelled
	first lack
}

func (l *lacking) add(at lack) {
	if l.as == nil {
		l.as = map[string]int{}
	}
	l.as[at.says]++
	l.n++
	l.first.or(at)
}

// addMissing takes in a cell without a value.
func (p *profile) addMissing(c *Chunk, row, col int) {
	p.missing++
	says := c.written(row, col)
	if p.firstLack.place != "" && !isNA(says) && !isNone(says) {
		return
	}
	at := lack{c.errorf(row, col, "").Error(), says, c.Line(row)}
	switch {
	case isNA(says):
		p.na.add(at)
	case isNone(says):
		p.none.add(at)
	default:
		p.firstLack = at
	}
}

// isNA recognises NA, which may be a name: Namibia, North America.
func isNA(s string) bool { return s == "NA" }

// isNone recognises None, which may be a name: a severity, a habit.
func isNone(s string) bool { return fold([]byte(s), "none") }

// noneIsName reports whether None is one of the names of a column: about as common as the others.
// Where it is rare, a program wrote it for a missing value.
func (p *profile) noneIsName() bool {
	return p.none.n > 0 && p.texts > 0 && p.numbers <= p.texts && !p.moreTexts && 2*p.none.n*len(p.textCount) >= p.texts
}

func (p *profile) nameNone() { p.isNone = p.name(&p.none) }

func (p *profile) nameNA() { p.isName = p.name(&p.na) }

// name makes names of missing cells.
func (p *profile) name(l *lacking) bool {
	for s, n := range l.as {
		p.textCount[s] += n
	}
	p.texts += l.n
	p.missing -= l.n
	*l = lacking{}
	return true
}

// named reports whether a missing cell is a name in this column.
func (c *Column) named(at *Chunk, row, col int) bool {
	if !c.NA && !c.None {
		return false
	}
	says := at.written(row, col)
	return c.NA && isNA(says) || c.None && isNone(says)
}
