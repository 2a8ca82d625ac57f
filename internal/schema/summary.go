package schema

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"utvi/internal/notation"
)

// mostShown is how many columns a summary lists.
const mostShown = 60

// Shown chooses the columns that a summary lists: all of them or, of many, those that
// are not plain inputs and the first of the others. It returns how many are left out.
func (s *Schema) Shown() (shown []Column, more int) {
	special := func(c *Column) bool { return c.Role != Input && c.Role != Dropped || c.Note != "" && c.Role == Input }
	left := mostShown
	for i := range s.Columns {
		if special(&s.Columns[i]) {
			left--
		}
	}
	left = max(left, mostShown/3)
	for i := range s.Columns {
		c := &s.Columns[i]
		if plain := !special(c); plain && left > 0 || !plain && len(shown) < 2*mostShown {
			shown = append(shown, *c)
			if plain {
				left--
			}
		}
	}
	return shown, len(s.Columns) - len(shown)
}

// WriteSummary writes a readable table of the columns: type, values and use.
func (s *Schema) WriteSummary(w io.Writer) error {
	rows := [][]string{{"column", "type", "values", "missing", "use"}}
	shown, more := s.Shown()
	for i := range shown {
		c := &shown[i]
		gone := ""
		if c.Missing > 0 {
			gone = strconv.Itoa(c.Missing)
		}
		rows = append(rows, []string{notation.Printable(c.Name), string(c.Type), c.values(), gone, s.use(c)})
	}
	width := make([]int, len(rows[0]))
	for _, row := range rows {
		for j, s := range row {
			width[j] = max(width[j], places(s))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		var line strings.Builder
		for j, s := range row {
			pad := strings.Repeat(" ", width[j]-places(s))
			if j == 3 { // counts stand at the right
				s, pad = pad+s, ""
			}
			line.WriteString(s + pad + "  ")
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	if more > 0 {
		fmt.Fprintf(&b, "… and %s\n", s.count(more))
	}
	fmt.Fprintf(&b, "%s of %s from %s; %s\n", s.Task, targetNames(s), plural(s.learned(), "input"), plural(s.Rows, "row"))
	_, err := io.WriteString(w, b.String())
	return err
}

// learned is how many inputs the networks learn from. A column that never lacked a value has another
// one, for rows that lack it later: what it does follows from the others.
func (s *Schema) learned() int {
	n := len(s.Inputs())
	for i := range s.Columns {
		if c := &s.Columns[i]; c.Role == Input && c.Type != Categorical && c.Apart && c.Missing == 0 {
			n--
		}
	}
	return n
}

// count says what the columns are that a summary does not list.
func (s *Schema) count(more int) string {
	used, dropped := 0, 0
	for i := range s.Columns {
		switch s.Columns[i].Role {
		case Input:
			used++
		case Dropped:
			dropped++
		}
	}
	return fmt.Sprintf("%s (in all %s, %d dropped)", plural(more, "more column"), plural(used, "input column"), dropped)
}

func plural(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

func targetNames(s *Schema) string {
	var names []string
	for _, t := range s.Targets() {
		names = append(names, notation.Printable(t.Name))
	}
	return notation.Join(names)
}

// asIs reports numbers that a network of another program takes, or gives, as the table has them.
func (c *Column) asIs() bool { return c.Scale == nil && c.Mean == 0 && c.SD == 1 }

// values is the range of a numeric column, the levels of a categorical one.
func (c *Column) values() string {
	switch c.Type {
	case Numeric:
		s := c.Range()
		switch {
		case c.Role != Input && c.Role != Target:
		case c.asIs():
			s += ", as they are"
		default:
			s += fmt.Sprintf(", mean %s, sd %s", c.Digits(c.Mean), notation.Short(c.SD, 4))
		}
		return s
	case Times:
		return c.Range()
	case Picture:
		return fmt.Sprintf("%d × %d pixels of %d", c.Image.Height, c.Image.Width, c.Image.Channels)
	case Categorical:
		const room = 40
		return fmt.Sprintf("%d: %s", len(c.Levels)+c.Rarer, shortened(notation.Printable(notation.Join(c.Levels)), room))
	}
	return ""
}

// Range writes the smallest and the largest value of a column of numbers or times.
func (c *Column) Range() string {
	if c.Type == Times {
		return c.day(c.Min) + " to " + c.day(c.Max)
	}
	return c.Digits(c.Min) + " to " + c.Digits(c.Max)
}

// Digits writes a value of a numeric column with enough digits to tell values apart that
// differ by a hundredth of its standard deviation, at least four.
func (c *Column) Digits(v float64) string {
	n := 4
	if r := math.Abs(v) / c.SD; r > 1 && !math.IsInf(r, 0) {
		n = min(max(4, 3+int(math.Log10(r))), 17)
	}
	if n > 4 && math.Abs(v) < 1e15 {
		return strconv.FormatFloat(v, 'f', max(0, 1-int(math.Floor(math.Log10(c.SD)))), 64)
	}
	return notation.Short(v, n)
}

// use says what becomes of a column, and what is odd about an input.
func (s *Schema) use(c *Column) string {
	if (c.Role == Input || c.Role == Target) && c.Note != "" {
		return s.become(c) + "; " + notation.Printable(c.Note)
	}
	return s.become(c)
}

// become says what becomes of a column.
func (s *Schema) become(c *Column) string {
	switch c.Role {
	case Dropped:
		return "dropped: " + notation.Printable(c.Note)
	case Std:
		return notation.Printable(c.Note)
	case Group:
		return "group, for splits only"
	case Time:
		return "time, for splits only"
	case Input:
		return s.becomeInputs(c)
	}
	if c.Most > 0 {
		return fmt.Sprintf("target, a share from 0 to %g", c.Most)
	}
	if s := c.boundsText(); s != "" && c.Role == Target {
		return "target, " + s
	}
	return string(c.Role)
}

// becomeInputs says which inputs a column becomes.
func (s *Schema) becomeInputs(c *Column) string {
	n := s.width(c)
	switch {
	case c.Embedded:
		return fmt.Sprintf("%d levels, embedded; other; missing", len(c.Levels))
	case c.Type == Categorical && c.Rarer > 0:
		return fmt.Sprintf("%d inputs: the %d most frequent levels, other", n, n-1)
	case c.Type == Categorical && c.Apart:
		return fmt.Sprintf("%d inputs: its levels, other, missing", n)
	case c.Type == Categorical:
		return fmt.Sprintf("%d inputs: its levels, other", n)
	case c.StdFrom != "":
		return "input with std from " + notation.Printable(c.StdFrom)
	case c.Std > 0:
		return "input with std " + notation.Short(c.Std, 4)
	case c.Type == Times:
		return fmt.Sprintf("%s: the time%s", plural(n, "input"), c.periods())
	case n == 2 && c.Missing > 0:
		return "input, and whether it is missing"
	}
	return "input"
}

// periods lists the parts of a time.
func (c *Column) periods() string {
	s := ""
	for _, p := range c.Parts {
		s += ", the place in the " + string(p)
	}
	return s
}
