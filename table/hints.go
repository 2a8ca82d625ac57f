package table

import (
	"fmt"
	"slices"
	"strings"
)

// missingTargets refuses rows without a target and says how many there are.
func (in *inference) missingTargets(rows int) error {
	for col, role := range in.roles {
		p := in.profiles[col]
		switch {
		case role != Target || p.missing == 0:
		case p.missing == 1:
			return fmt.Errorf("%s; remove the row", p.firstLack.missing("target"))
		default:
			return fmt.Errorf("%s, as in %d of %d rows to train with; remove them", p.firstLack.missing("target"), p.missing, rows)
		}
	}
	return nil
}

// A MissingValue is the error about an input that lacks values, if they are not imputed.
type MissingValue struct {
	What   string // where the first of them stands, and that it is missing
	Column string
}

func (e *MissingValue) Error() string {
	return fmt.Sprintf("%s; impute missing values, or ignore column %s", e.What, e.Column)
}

// noteRowNumbers remarks on inputs that may only number the rows, unless the user
// chose the inputs or the table has only one.
func (in *inference) noteRowNumbers(s *Schema) {
	if in.Inputs != nil || len(s.Inputs()) < 2 {
		return
	}
	for i := range s.Columns {
		if c := &s.Columns[i]; c.Role == Input && c.Type == Numeric && in.profiles[i].counts() {
			c.Note = "looks like a row number; ignore the column if it is one"
		}
	}
}

// find returns the position of names[i], or an error that lists the columns. A
// name with a comma may have been taken apart by who passed the names on.
func (h *Header) find(names []string, i int, what string) (int, error) {
	if at := h.Column(names[i]); at >= 0 {
		return at, nil
	}
	hint := ""
	for end := i + 2; end <= len(names); end++ {
		for _, comma := range []string{",", ", "} {
			if whole := strings.Join(names[i:end], comma); h.Column(whole) >= 0 {
				hint = fmt.Sprintf(`; put a name with a comma in double quotes: '"%s"'`, whole)
			}
		}
	}
	switch {
	case slices.Contains(h.first, names[i]):
		hint += "; its first row has that name, but also a number, and was read as data: set header to yes"
	case !h.Named:
		hint += "; the file has no column names, so the columns are called c1, c2 …"
	}
	return 0, fmt.Errorf("%s has no column %s, which is named as %s; its columns are %s%s", h.File, names[i], what, list(h.Columns), hint)
}
