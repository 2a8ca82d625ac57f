package schema

import (
	"fmt"
	"slices"
	"strings"

	"utvi/internal/advice"
	"utvi/internal/fractions"
	"utvi/internal/notation"
	"utvi/table"
)

// style is how numbers with groups or units are written.
func (r *Reading) style() notation.Style { return notation.Style(r.Style) }

// point is what the column writes before fractions, 0 if training did not show it.
func (r *Reading) point() byte {
	switch {
	case r.Style != "":
		return r.style().Point()
	case r.Point != "":
		return r.Point[0]
	}
	return 0
}

// withPoint returns the column as it reads a file that has this sign before fractions.
func (c *Column) withPoint(point byte) *Column {
	if c.Style == "" || c.style().Point() == point {
		return c
	}
	other := *c
	other.Style = string(notation.StyleOf(point))
	return &other
}

// decimal is how the file writes fractions in a column.
func (in *inference) decimal(c *Column) fractions.Column {
	d, _ := in.head.Decimal(in.head.Column(c.Name))
	return d
}

// keepDecimal stores how a column writes fractions, if some cell shows it, and warns of a guess.
func (in *inference) keepDecimal(c *Column, p *profile) {
	d, isText := in.head.Decimal(in.head.Column(c.Name))
	if !isText || c.Role == Dropped || p.whole && p.style == nil {
		return
	}
	if p.style == nil { // otherwise the style says it
		c.Point = string(rune(d.Point))
	}
	if d.Guess == "" {
		return
	}
	is, otherwise := notation.PointStyle, notation.CommaStyle
	remedy := advice.Set("Decimal", "comma")
	if d.Point == ',' {
		is, otherwise = otherwise, is
		remedy = advice.Set("Decimal", "point")
	}
	v, _, _ := is.Parse(d.Guess)
	other, _, _ := otherwise.Parse(d.Guess)
	c.advise(advice.New("%s is read as %s; if it means %s, %v", notation.Quote(d.Guess), notation.Digits(v), notation.Digits(other), remedy))
}

// commaNote shows how a decimal comma was read, by a cell if the first lines have one.
func (in *inference) commaNote(c *Column, p *profile) string {
	if cell := in.decimal(c).Comma; cell != "" {
		v, _ := notation.ScanFloat([]byte(cell), ',')
		return fmt.Sprintf("%s is read as %s", notation.Quote(cell), notation.Digits(v))
	}
	plain := notation.Digits(p.fraction)
	return fmt.Sprintf("%q is read as %s", strings.Replace(plain, ".", ",", 1), plain)
}

// readAsTrained makes a text file be read with the decimal points or commas of the training
// table; find finds a column in the file. The notes name columns that the file writes otherwise.
func (s *Schema) readAsTrained(h *table.Header, find func(name string) int) (notes []string, err error) {
	trained := make([]fractions.Trained, len(h.Columns))
	columns := make([]*Column, len(h.Columns))
	for i := range s.Columns {
		c := &s.Columns[i]
		if at := find(c.Name); at >= 0 && c.Role != Dropped && c.Role != Group && c.Role != Time {
			trained[at] = fractions.Trained{Used: true, Point: c.point(), Grouped: c.Style != ""}
			columns[at] = c
		}
	}
	// Models of older files took every comma beside semicolons for a decimal one.
	guess := slices.ContainsFunc(s.Columns, func(c Column) bool { return c.Point != "" })
	changed, err := h.ReadAs(trained, guess)
	if err != nil {
		return nil, err
	}
	words := map[byte]string{'.': "a decimal point", ',': "a decimal comma"}
	for _, r := range changed {
		c := columns[r.Column]
		notes = append(notes, fmt.Sprintf("%s, column %s: %s is read with %s; the training table has %s", h.File, c.Name, notation.Quote(r.Cell), words[r.Point], words[c.point()]))
	}
	return notes, nil
}

// needsNumber says why a text is not a number in a column of plain numbers.
func needsNumber(text string) string {
	if !notation.Ambiguous(text) {
		return notation.Quote(text) + " is text; a number is needed"
	}
	a, _, _ := notation.PointStyle.Parse(text)
	b, _, _ := notation.CommaStyle.Parse(text)
	return fmt.Sprintf("%s may mean %s or %s; write it as the training table writes numbers", notation.Quote(text), notation.Digits(a), notation.Digits(b))
}
