package schema

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"utvi/internal/notation"
	"utvi/table"
)

// remarks are what an Encoder finds in the rows of a file and a person should know: levels that
// training did not show, and numbers without the percent sign of their column. Goroutines that
// share an encoder share it.
type remarks struct {
	mu            sync.Mutex
	unknownLevels []examples // by input
	noPercent     []examples
	unreadable    []string // images, the first of them
	unread        int      // all of them
	aside         examples // rows that were set aside; the text says why
}

// remarkAside takes in a row that is set aside.
func (e *Encoder) remarkAside(c *table.Chunk, row int, why error) {
	if e.remarks == nil {
		return
	}
	e.remarks.mu.Lock()
	defer e.remarks.mu.Unlock()
	e.remarks.aside.add(example{why.Error(), c.Line(row)})
}

// SetAside is how many rows InputsAside has set aside, and why the first of them.
func (e *Encoder) SetAside() (rows int, why string) {
	if e.remarks == nil {
		return 0, ""
	}
	e.remarks.mu.Lock()
	defer e.remarks.mu.Unlock()
	return e.remarks.aside.n, e.remarks.aside.first.text
}

// remarkUnknownLevel takes in a level that training did not show.
func (e *Encoder) remarkUnknownLevel(c *table.Chunk, row, input int) {
	if e.remarks == nil {
		return
	}
	at := example{e.inputs[input].Level(c, row, e.inputs[input].pos), c.Line(row)}
	e.remarks.mu.Lock()
	defer e.remarks.mu.Unlock()
	e.remarks.unknownLevels[input].add(at)
}

// remarkNoPercent looks for numbers without the percent sign that their column has, and takes in
// the first of a chunk.
func (e *Encoder) remarkNoPercent(c *table.Chunk) {
	if e.remarks == nil {
		return
	}
	for i := range e.inputs {
		in := &e.inputs[i]
		if !notation.IsShare(in.Unit) {
			continue
		}
		for row := range c.Rows() {
			if k, v := c.Cell(row, in.pos); k == table.Number && v != 0 {
				e.remarks.mu.Lock()
				e.remarks.noPercent[i].add(example{c.Text(row, in.pos), c.Line(row)})
				e.remarks.mu.Unlock()
				break
			}
		}
	}
}

// Notes says what a person should know about how the file is read, as far as it has been: in
// sentences without a full stop.
func (e *Encoder) Notes() []string {
	all := slices.Clone(e.notes)
	if e.remarks == nil {
		return all
	}
	e.remarks.mu.Lock()
	defer e.remarks.mu.Unlock()
	for i := range e.inputs {
		in := &e.inputs[i]
		if found := &e.remarks.unknownLevels[i]; found.n > 0 {
			note := fmt.Sprintf("column %s: %s%s", in.Name, found.first.in(e.head), found.areUnknown())
			if like := in.levelLike(found.first.text); like != "" {
				note += fmt.Sprintf("; %s differs from it only by case or blanks", notation.Quote(like))
			}
			all = append(all, note)
		}
		if found := &e.remarks.noPercent[i]; found.n > 0 {
			all = append(all, fmt.Sprintf("column %s: %s has no sign %s, which the training table has, and is read as %s %s", in.Name, found.first.in(e.head), in.Unit, found.first.text, in.Unit))
		}
	}
	return append(all, e.remarks.images()...)
}

// areUnknown goes on after the first cell.
func (e *examples) areUnknown() string {
	switch e.n {
	case 1:
		return " is no level that training showed"
	case 2:
		return " and 1 other cell are no levels that training showed"
	}
	return fmt.Sprintf(" and %d other cells are no levels that training showed", e.n-1)
}

// caseless is a name without capitals and without blanks that do not count.
func caseless(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

// levelLike is the first level that differs from a name only by case or blanks, "" without one.
func (c *Column) levelLike(name string) string {
	plain := caseless(name)
	if i := slices.IndexFunc(c.Levels, func(l string) bool { return caseless(l) == plain }); i >= 0 {
		return c.Levels[i]
	}
	return ""
}

// mostUnreadable is how many images that cannot be read are named.
const mostUnreadable = 3

// remarkUnreadable takes in an image that cannot be read.
func (e *Encoder) remarkUnreadable(err error) {
	e.remarks.mu.Lock()
	defer e.remarks.mu.Unlock()
	e.remarks.unread++
	if len(e.remarks.unreadable) < mostUnreadable {
		e.remarks.unreadable = append(e.remarks.unreadable, err.Error())
	}
}

// Unreadable names an image that could not be read, "" if all could.
func (e *Encoder) Unreadable() string {
	if e.remarks == nil {
		return ""
	}
	e.remarks.mu.Lock()
	defer e.remarks.mu.Unlock()
	if len(e.remarks.unreadable) == 0 {
		return ""
	}
	return e.remarks.unreadable[0]
}

// images are the notes about images that cannot be read.
func (r *remarks) images() []string {
	if r.unread == 0 {
		return nil
	}
	slices.Sort(r.unreadable) // goroutines read them in any order
	all := slices.Clone(r.unreadable)
	if more := r.unread - len(all); more > 0 {
		all = append(all, fmt.Sprintf("%d more images cannot be read", more))
	}
	return all
}
