package table

import (
	"fmt"
	"io"

	"utvi/internal/notation"
)

// MaxRows is the most rows a Chunk has.
const MaxRows = 4096

// maxCells bounds the memory of a chunk that is very wide.
const maxCells = 1 << 22

// A Source yields the rows of a table in order. Next returns io.EOF after the last
// chunk. Chunks stay valid; they may be used by several goroutines.
type Source interface {
	Header() *Header
	Next() (*Chunk, error)
}

// Each calls f for every chunk of a source, up to the first error.
func Each(s Source, f func(*Chunk) error) error {
	for {
		c, err := s.Next()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = f(c)
		}
		if err != nil {
			return err
		}
	}
}

// A Chunk is up to MaxRows successive rows.
type Chunk struct {
	head  *Header
	rows  int
	cells []cell // row-major
	texts texts
	where []int // line or row number in the file, from 1
	first int   // of row 0 within texts
}

// texts finds the text of a cell: ref is what the cell carries if it is a text,
// −1 if it is a number.
type texts interface {
	text(row, col, ref int, v cell) string
}

// listed holds texts in a list; numbers are written the shortest way.
type listed struct{ list []string }

func (l *listed) text(_, _, ref int, v cell) string {
	if ref < 0 {
		return notation.Label(v)
	}
	return l.list[ref]
}

// Header names the table and the columns of the chunk.
func (c *Chunk) Header() *Header { return c.head }

// Rows is the number of rows.
func (c *Chunk) Rows() int { return c.rows }

// Line is where a row stands in the file: its line, or its number where the
// format has no lines. Both count from 1.
func (c *Chunk) Line(row int) int { return c.where[row] }

// Where says where a row stands, for a message: the file and the line.
func (c *Chunk) Where(row int) string { return c.head.At(c.where[row]) }

// Errorf is an error about a cell: where it stands, and what is wrong.
func (c *Chunk) Errorf(row, col int, format string, args ...any) error {
	return fmt.Errorf("%s, column %s: %s", c.Where(row), c.head.Columns[col], fmt.Sprintf(format, args...))
}

// Cell returns what a cell holds; the number is NaN unless it is one.
func (c *Chunk) Cell(row, col int) (Kind, float64) {
	v := c.cells[row*len(c.head.Columns)+col]
	switch k, _ := unbox(v); k {
	case padded:
		number, _ := notation.ScanFloat([]byte(c.Text(row, col)), '.')
		return Number, number
	case marked:
		return Missing, v
	default:
		return k, v
	}
}

// Numbers returns the cells of a row at once: the numbers, and NaN where Cell must be asked.
// The caller does not write to it.
func (c *Chunk) Numbers(row int) []float64 {
	width := len(c.head.Columns)
	return c.cells[row*width : (row+1)*width]
}

// Padded reports whether a cell is a whole number with zeros in front, such as 01067, which may
// be a code whose zeros count.
func (c *Chunk) Padded(row, col int) bool {
	k, _ := c.raw(row, col)
	return k == padded
}

// Text returns a cell as it was written, blanks around it removed, "" if it is
// missing.
func (c *Chunk) Text(row, col int) string {
	if k, _ := c.raw(row, col); k == marked {
		return ""
	}
	return c.Written(row, col)
}

// Written is Text, which also returns what stands for a missing value, such as NA.
func (c *Chunk) Written(row, col int) string {
	switch k, ref := c.raw(row, col); k {
	case Text, padded, marked:
		return c.texts.text(c.first+row, col, ref, 0)
	case Number:
		return c.texts.text(c.first+row, col, -1, c.cells[row*len(c.head.Columns)+col])
	}
	return ""
}

// Level returns a cell as a category: numbers in their one way of writing.
func (c *Chunk) Level(row, col int) string {
	if k, v := c.Cell(row, col); k == Number {
		return notation.Label(v)
	}
	return c.Text(row, col)
}

func (c *Chunk) raw(row, col int) (k Kind, ref int) {
	return unbox(c.cells[row*len(c.head.Columns)+col])
}

// Keep returns the rows of a chunk that keep asks for; the chunk itself if it is all.
func (c *Chunk) Keep(keep func(row int) bool) *Chunk {
	width := len(c.head.Columns)
	texts := &keptTexts{of: c}
	out := &Chunk{head: c.head, texts: texts}
	for row := range c.rows {
		if keep(row) {
			out.cells = append(out.cells, c.cells[row*width:(row+1)*width]...)
			out.where = append(out.where, c.where[row])
			texts.rows = append(texts.rows, row)
		}
	}
	out.rows = len(out.where)
	if out.rows == c.rows {
		return c
	}
	return out
}

// keptTexts finds texts in the chunk that rows were taken from.
type keptTexts struct {
	of   *Chunk
	rows []int
}

func (k *keptTexts) text(row, col, ref int, v cell) string {
	return k.of.texts.text(k.of.first+k.rows[row], col, ref, v)
}
