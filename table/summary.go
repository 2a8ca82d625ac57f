package table

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// WriteSummary writes a readable table of the columns: type, values and use.
func (s *Schema) WriteSummary(w io.Writer) error {
	rows := [][]string{{"column", "type", "values", "missing", "use"}}
	for i := range s.Columns {
		c := &s.Columns[i]
		gone := ""
		if c.Missing > 0 {
			gone = strconv.Itoa(c.Missing)
		}
		rows = append(rows, []string{printable(c.Name), string(c.Type), c.values(), gone, s.use(c)})
	}
	width := make([]int, len(rows[0]))
	for _, row := range rows {
		for j, s := range row {
			width[j] = max(width[j], utf8.RuneCountInString(s))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		var line strings.Builder
		for j, s := range row {
			pad := strings.Repeat(" ", width[j]-utf8.RuneCountInString(s))
			if j == 3 { // counts stand at the right
				s, pad = pad+s, ""
			}
			line.WriteString(s + pad + "  ")
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	fmt.Fprintf(&b, "%s of %s from %d inputs; %d rows\n", s.Task, targetNames(s), len(s.Inputs()), s.Rows)
	_, err := io.WriteString(w, b.String())
	return err
}

func targetNames(s *Schema) string {
	var names []string
	for _, t := range s.Targets() {
		names = append(names, printable(t.Name))
	}
	return join(names)
}

// values is the range of a numeric column, the levels of a categorical one.
func (c *Column) values() string {
	switch c.Type {
	case Numeric:
		s := fmt.Sprintf("%.4g to %.4g", c.Min, c.Max)
		if c.Role == Input || c.Role == Target {
			s += fmt.Sprintf(", mean %.4g, sd %.4g", c.Mean, c.SD)
		}
		return s
	case Categorical:
		const room = 40
		s := printable(join(c.Levels))
		if r := []rune(s); len(r) > room {
			s = string(r[:room-1]) + "…"
		}
		return fmt.Sprintf("%d: %s", len(c.Levels)+c.Rarer, s)
	}
	return ""
}

// use says what becomes of a column, and what is odd about an input.
func (s *Schema) use(c *Column) string {
	if c.Role == Input && c.Note != "" {
		return s.become(c) + "; " + printable(c.Note)
	}
	return s.become(c)
}

func (s *Schema) become(c *Column) string {
	n := s.width(c)
	switch {
	case c.Role == Dropped:
		return "dropped: " + printable(c.Note)
	case c.Role == Std:
		return printable(c.Note)
	case c.Role == Group:
		return "group, for splits only"
	case c.Role == Time:
		return "time, for splits only"
	case c.Role != Input:
		return string(c.Role)
	case c.Type == Categorical && c.Rarer > 0:
		return fmt.Sprintf("%d inputs: the %d most frequent levels, other", n, n-1)
	case c.Type == Categorical:
		return fmt.Sprintf("%d inputs: its levels, other", n)
	case c.StdFrom != "":
		return "input with std from " + printable(c.StdFrom)
	case c.Std > 0:
		return fmt.Sprintf("input with std %.4g", c.Std)
	case n == 2:
		return "input, and whether it is missing"
	}
	return "input"
}

// printable keeps control characters of a file off the terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if !strconv.IsPrint(r) {
			return '·'
		}
		return r
	}, s)
}
