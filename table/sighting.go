package table

import "fmt"

// A sighting is a cell that serves as an example.
type sighting struct {
	text string
	line int
}

// pair names two cells for a message.
func (h *Header) pair(a, b sighting) string {
	unit := "in row"
	if h.lines {
		unit = "on line"
	}
	return fmt.Sprintf("%s %s %d, %s %s %d", short(a.text), unit, a.line, short(b.text), unit, b.line)
}
