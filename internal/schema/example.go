package schema

import (
	"fmt"

	"utvi/internal/notation"
	"utvi/table"
)

// An example is a cell that a message shows.
type example struct {
	text string
	line int
}

// in names the cell, and where it stands in the file.
func (e example) in(h *table.Header) string {
	unit := "in row"
	if h.Lines {
		unit = "on line"
	}
	return fmt.Sprintf("%s %s %d", notation.Quote(e.text), unit, e.line)
}

// pairIn names two cells.
func pairIn(h *table.Header, a, b example) string { return a.in(h) + ", " + b.in(h) }

// examples are the first of several cells, and how many there are.
type examples struct {
	first example
	n     int
}

func (e *examples) add(at example) {
	e.n++
	if e.n == 1 || at.line < e.first.line {
		e.first = at
	}
}
