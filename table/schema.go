package table

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
	Odd     string  `json:"odd,omitempty"`     // what a person should look at before the column is used
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
	Point  string   `json:"point,omitempty"`  // what stands before fractions of plain numbers, "." or ","; "": not known, as in files of older versions
	Unit   string   `json:"unit,omitempty"`   // a sign that stands beside them, such as $
	Marks  []string `json:"marks,omitempty"`  // texts that stand for missing values
	NA     bool     `json:"na,omitempty"`     // NA is a level, not a missing value
	None   bool     `json:"none,omitempty"`   // likewise None
	Codes  bool     `json:"codes,omitempty"`  // 01 and 1 are two levels
	Layout string   `json:"layout,omitempty"` // of times, as package time takes it
	Parts  []Part   `json:"parts,omitempty"`  // of times
	Counts []int    `json:"counts,omitempty"` // of a target's classes: their training rows
	Whole  bool     `json:"whole,omitempty"`  // of a numeric target: all values are whole numbers from 0
	Most   float64  `json:"most,omitempty"`   // of a target that is a share: 1 or 100, which it cannot exceed; such a target is never negative
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
