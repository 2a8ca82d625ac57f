package schema

import (
	"fmt"
	"slices"

	"utvi/internal/notation"
	"utvi/table"
)

// An Encoder turns the rows of one file into numbers as a Schema says. Goroutines may share it:
// only what Notes says of the rows changes.
type Encoder struct {
	schema  *Schema
	head    *table.Header
	inputs  []input
	width   int
	targets []target
	weight  int // position, −1: none
	extra   []string
	notes   []string
	remarks *remarks // nil: the rows come from no file
}

// An input is a column of the schema, where it stands in the file, and its first
// input.
type input struct {
	*Column
	pos, std int // std: position of its deviations, −1: none
	at       int
	width    int
	levels   map[string]int
}

// A target is a target of the schema, and where it stands in the file.
type target struct {
	*Column
	pos    int
	levels map[string]int
}

// Bind connects the schema to the columns of a file, by name in any order, or
// by position where the schema or the file has no names. Input columns must be
// present; targets and weights may be absent (see HasTargets). A text file of which no row has
// been read yet is read with the decimal points or commas of the training table.
func (s *Schema) Bind(h *table.Header) (*Encoder, error) {
	e := &Encoder{schema: s, head: h, weight: -1}
	find, err := s.finder(h)
	if err != nil {
		return nil, err
	}
	e.notes, err = s.readAsTrained(h, find)
	if err != nil {
		return nil, err
	}
	asWritten := func(c *Column) *Column {
		if p := find(c.Name); p >= 0 {
			if d, isText := h.Decimal(p); isText {
				return c.withPoint(d.Point)
			}
		}
		return c
	}
	var absent []string
	need := func(name string) int {
		p := find(name)
		if p < 0 {
			absent = append(absent, name)
		}
		return p
	}
	known := map[int]bool{}
	for i := range s.Columns {
		c := &s.Columns[i]
		known[find(c.Name)] = true
		switch c.Role {
		case Input:
			in := input{Column: asWritten(c), pos: need(c.Name), std: -1, at: e.width, width: s.width(c), levels: index(c.Levels)}
			if c.StdFrom != "" {
				in.std = need(c.StdFrom)
			}
			e.inputs = append(e.inputs, in)
			e.width += in.width
		case Target:
			e.targets = append(e.targets, target{asWritten(c), find(c.Name), index(c.Levels)})
		case Weight:
			e.weight = find(c.Name)
		}
	}
	if absent != nil {
		return nil, fmt.Errorf("%s lacks %s, which the model needs; it has %s", h.File, columns(absent), notation.List(h.Columns))
	}
	if h.File != "" {
		e.remarks = &remarks{unknownLevels: make([]examples, len(e.inputs)), noPercent: make([]examples, len(e.inputs))}
	}
	for i, name := range h.Columns {
		if !known[i] {
			e.extra = append(e.extra, name)
		}
	}
	return e, nil
}

// columns names columns in a sentence.
func columns(names []string) string {
	if len(names) == 1 {
		return "the column " + names[0]
	}
	return "the columns " + notation.List(names)
}

// index is the place of each level.
func index(levels []string) map[string]int {
	m := make(map[string]int, len(levels))
	for i, l := range levels {
		m[l] = i
	}
	return m
}

// finder returns what finds a column of the schema in a file: −1 if it is not
// there.
func (s *Schema) finder(h *table.Header) (func(name string) int, error) {
	if s.Named && h.Named {
		pos := index(h.Columns)
		return func(name string) int {
			if p, ok := pos[name]; ok {
				return p
			}
			return -1
		}, nil
	}
	// By position: all columns of the training table, or all but its targets.
	var all, fewer []string
	for _, c := range s.Columns {
		all = append(all, c.Name)
		if c.Role != Target {
			fewer = append(fewer, c.Name)
		}
	}
	for _, names := range [][]string{all, fewer} {
		if len(names) == len(h.Columns) {
			return func(name string) int { return slices.Index(names, name) }, nil
		}
	}
	return nil, fmt.Errorf("%s has %d columns, to be matched by position; the model was trained with %d, or %d without targets, in this order: %s",
		h.File, len(h.Columns), len(all), len(fewer), notation.List(all))
}
