package schema

import (
	"slices"
	"strconv"
)

// Task is what a network learns.
type Task string

// The tasks.
const (
	Regression     Task = "regression"     // the targets are numbers
	Classification Task = "classification" // the target is one of several classes
)

// A Schema says what the columns of a table are and how rows become numbers. It
// is a plain value that is stored with a model; Parse reads it back.
type Schema struct {
	Task    Task     `json:"task"`
	Named   bool     `json:"named"` // columns are found by name, not by position
	Impute  bool     `json:"impute,omitempty"`
	Rows    int      `json:"rows"` // that Infer saw
	Columns []Column `json:"columns"`
}

// Targets returns the target columns.
func (s *Schema) Targets() []Column {
	var t []Column
	for _, c := range s.Columns {
		if c.Role == Target {
			t = append(t, c)
		}
	}
	return t
}

// Classes returns the classes of a classification, nil of a regression.
func (s *Schema) Classes() []string {
	if s.Task != Classification {
		return nil
	}
	return s.Targets()[0].Levels
}

// MarksMissing reports whether the last input of a number or a time says that it is missing.
func (s *Schema) MarksMissing(c *Column) bool { return s.Impute && (c.Missing > 0 || c.Apart) }

// width is the number of inputs a column becomes: a number, and whether it is
// missing; a one-hot of its levels, "other" and what is missing; or
// the number of a level.
func (s *Schema) width(c *Column) int {
	switch {
	case c.Role != Input:
		return 0
	case c.Type == Picture:
		return c.Image.Size()
	case c.Embedded:
		return 1
	case c.Type == Categorical && c.Apart:
		return len(c.Levels) + 2
	case c.Type == Categorical:
		return len(c.Levels) + 1
	case s.MarksMissing(c):
		return 2 + 2*len(c.Parts)
	}
	return 1 + 2*len(c.Parts)
}

// A Span is the inputs From … To−1 that a column becomes.
type Span struct {
	Column   *Column
	From, To int
}

// Spans part the inputs of the network among the columns, in order.
func (s *Schema) Spans() []Span {
	var all []Span
	at := 0
	for i := range s.Columns {
		if c := &s.Columns[i]; c.Role == Input {
			all = append(all, Span{c, at, at + s.width(c)})
			at += s.width(c)
		}
	}
	return all
}

// Inputs names the inputs of the network in order: the column, for a level
// column=level, for an indicator column?.
func (s *Schema) Inputs() []string {
	var names []string
	for i := range s.Columns {
		if c := &s.Columns[i]; c.Role == Input {
			names = append(names, s.inputNames(c)...)
		}
	}
	return names
}

func (s *Schema) inputNames(c *Column) (names []string) {
	if c.Type == Picture {
		for i := range c.Image.Size() {
			names = append(names, c.Name+"["+strconv.Itoa(i)+"]")
		}
		return names
	}
	if c.Type == Categorical && !c.Embedded {
		for _, l := range c.Levels {
			names = append(names, c.Name+"="+l)
		}
		names = append(names, c.Name+"=other")
		if c.Apart {
			names = append(names, c.Name+"?")
		}
		return names
	}
	names = append(names, c.Name)
	for _, p := range c.Parts {
		names = append(names, c.Name+": sine of the "+string(p), c.Name+": cosine of the "+string(p))
	}
	if s.MarksMissing(c) && !c.Embedded {
		names = append(names, c.Name+"?")
	}
	return names
}

// Pictures reports whether an input is an image.
func (s *Schema) Pictures() bool { return s.Picture() >= 0 }

// Picture is the position of the column of images, −1 if there is none.
func (s *Schema) Picture() int {
	return slices.IndexFunc(s.Columns, func(c Column) bool { return c.Type == Picture && c.Role == Input })
}

// Uncertain reports whether inputs have variances.
func (s *Schema) Uncertain() bool {
	for i := range s.Columns {
		if c := &s.Columns[i]; c.Role == Input && c.uncertain() {
			return true
		}
	}
	return false
}
