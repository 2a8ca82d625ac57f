package table

import (
	"fmt"
	"strings"
)

// inputless is the error about a table in which nothing is left to predict from: why each
// column is not an input. Nil if some column is one.
func (in *inference) inputless(s *Schema) error {
	const most = 5 // columns that are named
	var why []string
	for _, c := range s.Columns {
		switch c.Role {
		case Input:
			return nil
		case Weight, Group, Time:
			why = append(why, fmt.Sprintf("%s is the %s", c.Name, c.Role))
		case Dropped:
			verb := "is"
			if strings.HasPrefix(c.Note, "only ") {
				verb = "has"
			}
			why = append(why, c.Name+" "+verb+" "+c.Note)
		}
	}
	switch more := len(why) - most; {
	case len(why) == 0:
		why = []string{"the table has no other columns"}
	case more == 1:
		why = append(why[:most], "and 1 other")
	case more > 1:
		why = append(why[:most], fmt.Sprintf("and %d others", more))
	}
	return fmt.Errorf("%s: no column is left to predict from: %s", in.head.File, printable(strings.Join(why, "; ")))
}
