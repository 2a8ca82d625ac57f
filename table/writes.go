package table

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

func (in *inference) point(c *Column) byte { return in.head.point(in.head.Column(c.Name)) }

// written stores how a column writes numbers, if some cell shows it, and warns of a guess.
func (in *inference) written(c *Column, p *profile) {
	col := in.head.Column(c.Name)
	if in.head.points == nil || c.Role == Dropped || p.whole && p.style == nil {
		return
	}
	if p.style == nil { // otherwise the style says it
		c.Point = string(rune(in.head.points[col]))
	}
	if !in.head.doubt[col] {
		return
	}
	w := &in.head.written[col]
	cell := cmp.Or(w.eitherComma, w.eitherDot)
	as := map[byte]string{'.': "decimal to comma", ',': "decimal to point"}[in.head.points[col]]
	this, other := PointStyle, CommaStyle
	if in.head.points[col] == ',' {
		this, other = other, this
	}
	v, _, _ := this.parse(cell)
	otherwise, _, _ := other.parse(cell)
	c.Odd = also(c.Odd, fmt.Sprintf("%s is read as %s; if it means %s, set %s", short(cell), digits(v), digits(otherwise), as))
}

// commaNote shows how a decimal comma was read, by a cell if the first lines have one.
func (in *inference) commaNote(c *Column, p *profile) string {
	w := &in.head.written[in.head.Column(c.Name)]
	for _, cell := range []string{w.comma, w.eitherComma} {
		if v, n := scanFloat([]byte(cell), ','); n > 0 && n == len(cell) {
			return fmt.Sprintf("%s is read as %s", short(cell), digits(v))
		}
	}
	plain := digits(p.fraction)
	return fmt.Sprintf("%q is read as %s", strings.Replace(plain, ".", ",", 1), plain)
}

// point is what the column writes before fractions, 0 if training did not show it.
func (c *Column) point() byte {
	switch {
	case c.Style != "":
		return c.Style.point()
	case c.Point != "":
		return c.Point[0]
	}
	return 0
}

// in returns the column as it reads a file that has another sign before fractions.
func (c *Column) in(point byte) *Column {
	if c.Style == "" || c.Style.point() == point {
		return c
	}
	other := *c
	other.Style = map[byte]Style{'.': PointStyle, ',': CommaStyle}[point]
	return &other
}

// says is what the cells of a file say about a column of the model: what stands before fractions
// if there is no choice, else 0. Points that the model would have to read as thousands, which
// training never showed, leave none.
func (w *written) says(c *Column) byte {
	if c.Style == "" && c.point() == ',' && w.sure() == 0 && w.eitherComma == "" && w.eitherDot != "" {
		return '.'
	}
	return w.sure()
}

// agree makes the reader of a text file read numbers as the model's columns wrote them; at finds
// a column in the file. A column whose cells can only be read in another way is read so, and
// noted; columns that may be read in both ways follow, if no other column contradicts.
func (h *Header) agree(s *Schema, at func(name string) int) (notes []string, err error) {
	if h.points == nil {
		return nil, nil
	}
	model := make([]*Column, len(h.points))
	for i := range s.Columns {
		c := &s.Columns[i]
		if p := at(c.Name); p >= 0 && c.Role != Dropped && c.Role != Group && c.Role != Time {
			model[p] = c
		}
	}
	agrees, differs := false, false
	for col, c := range model {
		if says := h.says(c, col); says != 0 {
			agrees, differs = agrees || says == c.point(), differs || says != c.point()
		}
	}
	// Models of older files took every comma beside semicolons for a decimal one.
	newer := slices.ContainsFunc(s.Columns, func(c Column) bool { return c.Point != "" })
	now, _ := points(h.written, h.delim, newer, func(col int) bool { return model[col] != nil })
	for col, c := range model {
		if c == nil || c.point() == 0 {
			continue
		}
		w := &h.written[col]
		switch says := h.says(c, col); {
		case says != 0:
			now[col] = says
		case h.decimal != 0:
			now[col] = h.decimal
		case differs && !agrees && (w.eitherComma != "" || w.eitherDot != ""):
			now[col] = c.point() ^ '.' ^ ','
		default:
			now[col] = c.point()
		}
		if now[col] != c.point() {
			words := map[byte]string{'.': "a decimal point", ',': "a decimal comma"}
			cell := w.example(now[col])
			notes = append(notes, fmt.Sprintf("%s, column %s: %s is read with %s; the training table has %s", h.File, c.Name, short(cell), words[now[col]], words[c.point()]))
		}
	}
	if !h.begun || slices.Equal(h.points, now) {
		h.points = now
		return notes, nil
	}
	for col, c := range model {
		if w := &h.written[col]; c != nil && c.point() != 0 && now[col] != h.points[col] && w.eitherComma+w.eitherDot != "" {
			return nil, fmt.Errorf("%s, column %s: rows were read before the model could say what %s means; bind it to the table first", h.File, c.Name, short(w.eitherComma+w.eitherDot))
		}
	}
	return notes, nil
}

// needsNumber says why a text is not a number in a column of plain numbers.
func needsNumber(text string) string {
	var w written
	if w.look(text); w.eitherComma != "" {
		a, _, _ := PointStyle.parse(text)
		b, _, _ := CommaStyle.parse(text)
		return fmt.Sprintf("%s may mean %s or %s; write it as the training table writes numbers", short(text), digits(a), digits(b))
	}
	return short(text) + " is text; a number is needed"
}

// says is what a column of the file says, 0 if the model or the file leaves that open.
func (h *Header) says(c *Column, col int) byte {
	if c == nil || c.point() == 0 {
		return 0
	}
	return h.written[col].says(c)
}

// example is a cell that shows how the column is read.
func (w *written) example(point byte) string {
	all := []string{w.comma, w.eitherComma, w.eitherDot}
	if point == '.' {
		all = []string{w.point, w.eitherDot, w.eitherComma}
	}
	return all[slices.IndexFunc(all, func(s string) bool { return strings.ContainsAny(s, ",.") })]
}
