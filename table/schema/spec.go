package schema

import (
	"slices"

	"utvi/pixels"
)

// A Spec holds the user's settings for the columns of a table.
type Spec struct {
	Targets     []string           `json:"targets"`
	Task        Task               `json:"task"`   // "": classification if the target is text
	Inputs      []string           `json:"inputs"` // nil: all columns that have no other role
	Ignore      []string           `json:"ignore"`
	Categorical []string           `json:"categorical"`            // columns to treat as categories: numbers, or names that hardly repeat
	TargetRange string             `json:"target_range,omitempty"` // bounds of the targets, such as 0: or 0:100; "": found; ":": none
	Weight      string             `json:"weight"`
	Group       string             `json:"group"`
	Time        string             `json:"time"`
	Impute      bool               `json:"impute"`     // accept missing inputs
	InputStd    map[string]float64 `json:"input_std"`  // per column; a column x_std beside x is found automatically
	MaxLevels   int                `json:"max_levels"` // that have an input each; a column with more is embedded; 0: 50

	// Image is the column of images, and Format what they become; "": there is none.
	Image  string         `json:"-"`
	Format *pixels.Format `json:"-"`
}

// Uses reports whether a column of this name is asked for, or not left out: see table.Options.Used.
func (s *Spec) Uses(column string) bool {
	if slices.Contains(s.Targets, column) || column == s.Weight && column != "" || slices.Contains(s.Inputs, column) {
		return true
	}
	return len(s.Inputs) == 0 && !slices.Contains(s.Ignore, column) && column != s.Group && column != s.Time
}
