package table

import "fmt"

// A sighting is a cell that serves as an example.
type sighting struct {
	text string
	line int
}

// pair names two cells for a message.
func (h *Header) pair(a, b sighting) string { return h.sees(a) + ", " + h.sees(b) }

// sees names a cell for a message.
func (h *Header) sees(a sighting) string {
	unit := "in row"
	if h.lines {
		unit = "on line"
	}
	return fmt.Sprintf("%s %s %d", short(a.text), unit, a.line)
}
