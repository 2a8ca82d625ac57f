package table

import (
	"fmt"
	"math"

	"utvi/internal/strictjson"
)

// Role says what a column is used for.
type Role string

const (
	Input   Role = "input"
	Target  Role = "target"
	Weight  Role = "weight"
	Group   Role = "group"   // used by splits only
	Time    Role = "time"    // likewise
	Std     Role = "std"     // standard deviation of another column
	Dropped Role = "dropped" // Note says why
)

// Type is how a column is encoded.
type Type string

const (
	Numeric     Type = "numeric"
	Categorical Type = "categorical"
	Times       Type = "time" // dates and times of day
)

// Task is regression or classification.
type Task string

const (
	Regression     Task = "regression"
	Classification Task = "classification"
)

// A Column describes one column, from the rows that Infer read.
type Column struct {
	Name    string  `json:"name"`
	Role    Role    `json:"role"`
	Type    Type    `json:"type,omitempty"`
	Note    string  `json:"note,omitempty"`
	Missing int     `json:"missing,omitempty"` // number of missing cells
	Mean    float64 `json:"mean"`
	SD      float64 `json:"sd"`
	Min     float64 `json:"min"`
	Max     float64 `json:"max"`

	Scale *Scale `json:"scale,omitempty"` // of a numeric input; nil: (v − mean)/sd, in files of older versions

	// Levels are the categories, the most frequent first. The levels of a target are
	// its classes, in ascending order; after the levels of an input comes "other":
	// levels that training did not show, and, unless Apart is set, what is missing.
	Levels []string `json:"levels,omitempty"`
	Rarer  int      `json:"rarer,omitempty"` // number of levels that are not listed, in files of older versions

	// Embedded is set if the column has too many levels for an input each: it becomes one
	// input, the number of the level in Levels. The number after those stands for levels
	// that training did not show, the next one for what is missing.
	Embedded bool `json:"embedded,omitempty"`

	// Apart is set if the last input says that a cell is missing. Otherwise, as in files of
	// older versions, only numbers and times that training lacked have such an input, and a
	// missing category is "other".
	Apart bool `json:"apart,omitempty"`

	Std     float64 `json:"std,omitempty"`      // the same for every row
	StdFrom string  `json:"std_from,omitempty"` // the column that holds it

	Style  Style    `json:"style,omitempty"`  // how numbers are written; "": plainly
	Unit   string   `json:"unit,omitempty"`   // a sign that stands beside them, such as $
	Marks  []string `json:"marks,omitempty"`  // texts that stand for missing values
	NA     bool     `json:"na,omitempty"`     // NA is a level, not a missing value
	Layout string   `json:"layout,omitempty"` // of times, as package time takes it
	Parts  []Part   `json:"parts,omitempty"`  // of times
	Counts []int    `json:"counts,omitempty"` // of a target's classes: their training rows
	Whole  bool     `json:"whole,omitempty"`  // of a numeric target: all values are whole numbers from 0
}

// A Schema says what the columns of a table are and how rows become numbers. It
// is a plain value that is stored with a model; ParseSchema reads it back.
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

// Numbers returns how many numbers the inputs of an Embedded column take: one for each
// level, for levels that training did not show, and for what is missing. It is 0 for all
// other columns.
func (c *Column) Numbers() int {
	if !c.Embedded {
		return 0
	}
	return len(c.Levels) + 2
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
		c := &s.Columns[i]
		if c.Role != Input {
			continue
		}
		if c.Type == Categorical && !c.Embedded {
			for _, l := range c.Levels {
				names = append(names, c.Name+"="+l)
			}
			names = append(names, c.Name+"=other")
			if c.Apart {
				names = append(names, c.Name+"?")
			}
			continue
		}
		names = append(names, c.Name)
		for _, p := range c.Parts {
			names = append(names, c.Name+": sine of the "+string(p), c.Name+": cosine of the "+string(p))
		}
		if s.MarksMissing(c) && !c.Embedded {
			names = append(names, c.Name+"?")
		}
	}
	return names
}

// Uncertain reports whether inputs have variances.
func (s *Schema) Uncertain() bool {
	for _, c := range s.Columns {
		if c.Role == Input && (c.Std > 0 || c.StdFrom != "") {
			return true
		}
	}
	return false
}

// ParseSchema reads a Schema from JSON and refuses invalid ones.
func ParseSchema(data []byte) (*Schema, error) {
	s := &Schema{}
	err := strictjson.Unmarshal(data, s)
	if err == nil {
		err = s.check()
	}
	if err != nil {
		return nil, fmt.Errorf("table schema: %w", err)
	}
	return s, nil
}

// check holds everything that encoding relies on.
func (s *Schema) check() error {
	if s.Task != Regression && s.Task != Classification {
		return fmt.Errorf("the task %q is unknown", s.Task)
	}
	byName := map[string]*Column{}
	inputs, targets := 0, 0
	for i := range s.Columns {
		c := &s.Columns[i]
		if byName[c.Name] != nil {
			return fmt.Errorf("column %s is listed twice", c.Name)
		}
		byName[c.Name] = c
		if err := s.checkColumn(c); err != nil {
			return fmt.Errorf("column %s: %w", c.Name, err)
		}
		inputs += s.width(c)
		if c.Role == Target {
			targets++
		}
	}
	for _, c := range s.Columns {
		if std := byName[c.StdFrom]; c.StdFrom != "" && (std == nil || std.Role != Std) {
			return fmt.Errorf("column %s: the column %s of its standard deviations is missing", c.Name, c.StdFrom)
		}
	}
	switch {
	case targets == 0:
		return fmt.Errorf("no column is a target")
	case inputs == 0:
		return fmt.Errorf("no column is an input")
	case s.Task == Classification && targets > 1:
		return fmt.Errorf("a classification has one target, not %d", targets)
	}
	return nil
}

func (s *Schema) checkColumn(c *Column) error {
	switch c.Role {
	case Input, Target, Weight, Group, Time, Std, Dropped:
	default:
		return fmt.Errorf("the role %q is unknown", c.Role)
	}
	if c.Role != Input && c.Role != Target {
		return nil
	}
	for _, v := range []float64{c.Mean, c.SD, c.Min, c.Max, c.Std} {
		if math.IsInf(v, 0) || v != v {
			return fmt.Errorf("a number is not finite")
		}
	}
	seen := map[string]bool{}
	for _, l := range c.Levels {
		if seen[l] {
			return fmt.Errorf("the level %s is listed twice", short(l))
		}
		seen[l] = true
	}
	if err := c.Scale.check(); err != nil {
		return err
	}
	switch {
	case c.Type != Numeric && c.Type != Categorical && c.Type != Times:
		return fmt.Errorf("the type %q is unknown", c.Type)
	case c.Type != Categorical && !(c.SD > 0):
		return fmt.Errorf("the standard deviation is %g; it must be > 0", c.SD)
	case c.Std < 0:
		return fmt.Errorf("the standard deviation of its values is %g; it must be ≥ 0", c.Std)
	case c.Role == Target && (c.Type == Categorical) != (s.Task == Classification):
		return fmt.Errorf("the target of a %s cannot be %s", s.Task, c.Type)
	case c.Role == Target && c.Type == Categorical && len(c.Levels) < 2:
		return fmt.Errorf("there are %d classes", len(c.Levels))
	case c.Embedded && (c.Role != Input || c.Type != Categorical || c.Rarer != 0 || len(c.Levels) > 2*maxTexts):
		return fmt.Errorf("%d levels of a %s %s cannot be embedded", len(c.Levels), c.Type, c.Role)
	case c.Apart && (c.Role != Input || c.Embedded || !s.Impute):
		return fmt.Errorf("missing values of a %s %s cannot have an input", c.Type, c.Role)
	case c.Type != Numeric && (c.Std != 0 || c.StdFrom != ""):
		return fmt.Errorf("a %s column cannot have a standard deviation", c.Type)
	}
	return c.checkReading()
}

// checkReading checks how the cells of a column are read.
func (c *Column) checkReading() error {
	switch {
	case c.Style != "" && c.Style != PointStyle && c.Style != CommaStyle:
		return fmt.Errorf("the style of numbers %q is unknown", c.Style)
	case c.Style != "" && c.Type != Numeric:
		return fmt.Errorf("a %s column cannot have a style of numbers", c.Type)
	case (c.Type == Times) != (c.Layout != ""):
		return fmt.Errorf("times need a layout, and nothing else has one")
	case c.Type == Times && c.Role != Input:
		return fmt.Errorf("a %s cannot be a time", c.Role)
	case c.Type != Times && len(c.Parts) > 0 || len(c.Parts) > 3:
		return fmt.Errorf("%d parts of a time in a %s column", len(c.Parts), c.Type)
	case c.Counts != nil && len(c.Counts) != len(c.Levels):
		return fmt.Errorf("%d counts of %d classes", len(c.Counts), len(c.Levels))
	}
	for _, p := range c.Parts {
		if p != OfYear && p != OfWeek && p != OfDay {
			return fmt.Errorf("the part of a time %q is unknown", p)
		}
	}
	for _, n := range c.Counts {
		if n < 0 {
			return fmt.Errorf("a class has %d rows", n)
		}
	}
	return nil
}
