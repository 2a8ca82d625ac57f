package schema

import (
	"slices"

	"utvi/internal/pixels"
)

// A Spec holds the user's settings for the columns of a table: those of fit.Config.
type Spec struct {
	Targets     []string
	Task        Task     // "": classification if the target is text
	Inputs      []string // nil: all columns that have no other role
	Ignore      []string
	Categorical []string // columns to treat as categories: numbers, or names that hardly repeat
	TargetRange string   // bounds of the targets, such as 0: or 0:100; "": found; ":": none
	Weight      string
	Group       string
	Time        string
	Impute      bool               // accept missing inputs
	InputStd    map[string]float64 // per column; a column x_std beside x is found automatically
	MaxLevels   int                // that have an input each; a column with more is embedded; 0: 50

	// Image is the column of images, and Format what they become; "": there is none.
	Image  string
	Format *pixels.Format
}

// Uses reports whether a column of this name is asked for, or not left out: see table.Options.Used.
func (s *Spec) Uses(column string) bool {
	if slices.Contains(s.Targets, column) || column == s.Weight && column != "" || slices.Contains(s.Inputs, column) {
		return true
	}
	return len(s.Inputs) == 0 && !slices.Contains(s.Ignore, column) && column != s.Group && column != s.Time
}
