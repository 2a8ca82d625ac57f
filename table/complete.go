package table

import (
	"fmt"
	"slices"
)

// WithTargets returns the rows (nil: all) whose targets are all given, and how many are
// not. A mark such as "-" is a missing value in a target of numbers.
func (f *Frame) WithTargets(rows []int, targets []string) (kept []int, missing int) {
	kept, missing, _ = f.withTargets(rows, targets)
	return kept, missing
}

// MarkOfTarget is the first text that stands for a missing target, and where it stands; "" if
// missing targets are empty cells.
func (f *Frame) MarkOfTarget(targets []string) string {
	_, _, first := f.withTargets(nil, targets)
	if first.says == "" {
		return ""
	}
	return fmt.Sprintf("%s (%s)", short(first.says), first.place)
}

func (f *Frame) withTargets(rows []int, targets []string) (kept []int, missing int, mark lack) {
	rows = f.orAll(rows)
	var columns []int
	var as []Column
	for _, name := range targets {
		col := f.head.Column(name)
		if col < 0 {
			continue // which Infer reports
		}
		p := newProfile()
		for _, row := range rows {
			c, at := f.at(row)
			p.add(c, at, col)
		}
		p.settle(f.head.point(col))
		c := Column{Type: Categorical, NA: p.isName, None: p.isNone, Marks: p.markList()}
		if p.texts == 0 {
			c.Type = Numeric
		}
		columns, as = append(columns, col), append(as, c)
	}
	kept = slices.DeleteFunc(slices.Clone(rows), func(row int) bool {
		c, at := f.at(row)
		for i, col := range columns {
			if as[i].kindOf(c, at, col) == Missing {
				if says := c.written(at, col); says != "" {
					mark.or(lack{f.head.at(c.Line(at)), says, c.Line(at)})
				}
				return true
			}
		}
		return false
	})
	return kept, len(rows) - len(kept), mark
}

// Complete reports whether a row has all its targets.
func (e *Encoder) Complete(c *Chunk, row int) bool {
	for i := range e.targets {
		if t := &e.targets[i]; t.pos >= 0 && t.kindOf(c, row, t.pos) == Missing {
			return false
		}
	}
	return true
}

// Keep returns the rows of a chunk that keep asks for; the chunk itself if it is all.
func (c *Chunk) Keep(keep func(row int) bool) *Chunk {
	width := len(c.head.Columns)
	out := &Chunk{head: c.head, texts: &kept{of: c}}
	for row := range c.rows {
		if keep(row) {
			out.cells = append(out.cells, c.cells[row*width:(row+1)*width]...)
			out.where = append(out.where, c.where[row])
			out.texts.(*kept).rows = append(out.texts.(*kept).rows, row)
		}
	}
	out.rows = len(out.where)
	if out.rows == c.rows {
		return c
	}
	return out
}

// kept finds texts in the chunk that rows were taken from.
type kept struct {
	of   *Chunk
	rows []int
}

func (k *kept) text(row, col, ref int, v cell) string {
	return k.of.texts.text(k.of.first+k.rows[row], col, ref, v)
}

// ByPosition reports whether the columns were matched by their order, because the file
// or the training table has no names.
func (e *Encoder) ByPosition() bool { return !e.schema.Named || !e.head.Named }
