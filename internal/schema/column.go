package schema

import (
	"utvi/internal/advice"
	"utvi/internal/pixels"
)

// Role says what a column is used for.
type Role string

// The roles of columns.
const (
	Input   Role = "input"   // the network sees it
	Target  Role = "target"  // the network predicts it
	Weight  Role = "weight"  // how much a training row counts
	Group   Role = "group"   // rows that splits keep together
	Time    Role = "time"    // the order of rows in splits
	Std     Role = "std"     // standard deviations of another column
	Dropped Role = "dropped" // not used; Note says why
)

// Type is what the values of a column are.
type Type string

// The types of columns.
const (
	Numeric     Type = "numeric"
	Categorical Type = "categorical"
	Times       Type = "time" // dates and times of day
	Picture     Type = "image"
)

// A Column describes one column of a table, from the rows that Infer read.
type Column struct {
	Name    string `json:"name"`
	Role    Role   `json:"role"`
	Type    Type   `json:"type,omitempty"`
	Note    string `json:"note,omitempty"` // how the column is read, or why it is not used
	Warning string `json:"odd,omitempty"`  // what a person should look at before the column is used

	advice advice.Sentence // Warning, if it proposes settings; files do not keep these

	Stats
	Encoding
	Reading
	TargetStats
}

// Stats are the statistics of a column.
type Stats struct {
	Missing int     `json:"missing,omitempty"` // number of missing cells
	Mean    float64 `json:"mean"`
	SD      float64 `json:"sd"`
	Min     float64 `json:"min"`
	Max     float64 `json:"max"`
}

// Encoding says which inputs of a network a column becomes.
type Encoding struct {
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

	Image *pixels.Format `json:"image,omitempty"` // of a column of images: each pixel's channels are inputs

	Std     float64 `json:"std,omitempty"`      // standard deviation of the values, the same for every row
	StdFrom string  `json:"std_from,omitempty"` // the column that holds it
}

// Reading says how the cells of a column are read.
type Reading struct {
	Style string   `json:"style,omitempty"` // of numbers with grouped thousands or units: "1,234.5" or "1.234,5"; "": plain numbers
	Point string   `json:"point,omitempty"` // what stands before fractions of plain numbers, "." or ","; "": not known, as in files of older versions
	Unit  string   `json:"unit,omitempty"`  // a sign that stands beside numbers, such as $
	Marks []string `json:"marks,omitempty"` // texts that stand for missing values, such as -
	NA    bool     `json:"na,omitempty"`    // NA is a level, not a missing value
	None  bool     `json:"none,omitempty"`  // likewise None
	Codes bool     `json:"codes,omitempty"` // 01 and 1 are two levels

	Layout string `json:"layout,omitempty"` // of times, as package time takes it
	Parts  []Part `json:"parts,omitempty"`  // of times: the periods whose place they show
}

// TargetStats are further statistics of a target.
type TargetStats struct {
	Counts []int   `json:"counts,omitempty"` // training rows of each class
	Whole  bool    `json:"whole,omitempty"`  // all values are whole numbers from 0
	Most   float64 `json:"most,omitempty"`   // of a share: 1 or 100, which it cannot exceed; such a target is never negative

	Low  *float64 `json:"low,omitempty"`  // the smallest value that is possible; nil: no bound
	High *float64 `json:"high,omitempty"` // the largest
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

// uncertain reports whether the values have standard deviations.
func (c *Column) uncertain() bool { return c.Std > 0 || c.StdFrom != "" }
