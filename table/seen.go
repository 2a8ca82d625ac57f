package table

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// What an Encoder sees of a file and a person should know: levels that training did not show, and
// numbers without the percent sign of their column. Goroutines that share an encoder share it.
type seen struct {
	mu      sync.Mutex
	strange []sightings // by input
	bare    []sightings
}

// sightings are the first of several cells, and how many there are.
type sightings struct {
	first sighting
	n     int
}

func (s *sightings) add(at sighting) {
	if s.n++; s.n == 1 || at.line < s.first.line {
		s.first = at
	}
}

// stranger takes in a level that training did not show.
func (e *Encoder) stranger(c *Chunk, row, input int) {
	if e.seen == nil {
		return
	}
	at := sighting{e.inputs[input].Level(c, row, e.inputs[input].pos), c.Line(row)}
	e.seen.mu.Lock()
	defer e.seen.mu.Unlock()
	e.seen.strange[input].add(at)
}

// lookBare looks for numbers without the percent sign that their column has.
func (e *Encoder) lookBare(c *Chunk) {
	if e.seen == nil {
		return
	}
	for i := range e.inputs {
		in := &e.inputs[i]
		if !isShare(in.Unit) {
			continue
		}
		row := 0
		for row < c.Rows() {
			if k, v := c.Cell(row, in.pos); k == Number && v != 0 {
				break
			}
			row++
		}
		if row == c.Rows() {
			continue
		}
		e.seen.mu.Lock()
		e.seen.bare[i].add(sighting{c.Text(row, in.pos), c.Line(row)})
		e.seen.mu.Unlock()
	}
}

// Notes says what a person should know about how the file is read, as far as it has been: in
// sentences without a full stop.
func (e *Encoder) Notes() []string {
	all := slices.Clone(e.notes)
	if e.seen == nil {
		return all
	}
	e.seen.mu.Lock()
	defer e.seen.mu.Unlock()
	for i := range e.inputs {
		in := &e.inputs[i]
		if s := e.seen.strange[i]; s.n > 0 {
			note := fmt.Sprintf("column %s: %s%s", in.Name, e.head.sees(s.first), s.others("is no level", "are no levels"))
			if like := in.alike(s.first.text); like != "" {
				note += fmt.Sprintf("; %s differs from it only by case or blanks", short(like))
			}
			all = append(all, note)
		}
		if s := e.seen.bare[i]; s.n > 0 {
			all = append(all, fmt.Sprintf("column %s: %s has no sign %s, which the training table has, and is read as %s %s", in.Name, e.head.sees(s.first), in.Unit, s.first.text, in.Unit))
		}
	}
	return all
}

func (s *sightings) others(is, are string) string {
	const shown = " that training showed"
	switch s.n {
	case 1:
		return " " + is + shown
	case 2:
		return " and 1 other cell " + are + shown
	}
	return fmt.Sprintf(" and %d other cells %s%s", s.n-1, are, shown)
}

// plainly is a name without capitals and without blanks that do not count.
func plainly(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

// alike is the first level that differs from a name only by case or blanks, "" without one.
func (c *Column) alike(name string) string {
	plain := plainly(name)
	if i := slices.IndexFunc(c.Levels, func(l string) bool { return plainly(l) == plain }); i >= 0 {
		return c.Levels[i]
	}
	return ""
}

// oddCase names levels that differ only by case or blanks, "" if there are none. Of very many
// levels that may be so by chance.
func oddCase(levels []string, became string) string {
	const most = 100
	if len(levels) > most {
		return ""
	}
	first := map[string]string{}
	for _, l := range slices.Sorted(slices.Values(levels)) {
		plain := plainly(l)
		if other, known := first[plain]; known {
			return fmt.Sprintf("%s and %s differ only by case or blanks, but are read as two %s; write them in one way if they mean the same", short(other), short(l), became)
		}
		first[plain] = l
	}
	return ""
}
