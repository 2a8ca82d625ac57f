package table

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxRows is the most rows a Chunk has.
const MaxRows = 4096

// maxCells bounds the memory of a chunk that is very wide.
const maxCells = 1 << 22

// A Header names a table and its columns.
type Header struct {
	File    string   // as the user named it; "standard input" for -; "" without a file
	Columns []string // c1, c2 … where the file has no names
	Named   bool     // the file names its columns
	lines   bool     // rows stand on lines
	first   []string // the first row, if the file does not name its columns

	// How a text file writes numbers, by column.
	written []written
	points  []byte // what stands before fractions
	doubt   []bool // which is a guess
	decimal byte   // what the user says, 0: nothing
	delim   byte
	begun   bool // rows have been read
}

// Column returns the position of the column of that name, or −1.
func (h *Header) Column(name string) int {
	for i, c := range h.Columns {
		if c == name {
			return i
		}
	}
	return -1
}

// list names columns or classes, not more than a line of them.
func list(names []string) string {
	const most = 20
	if len(names) > most {
		return fmt.Sprintf("%s … (%d in all)", join(names[:most]), len(names))
	}
	return join(names)
}

// join puts names that hold a comma in quotes.
func join(names []string) string {
	quoted := make([]string, len(names))
	for i, s := range names {
		quoted[i] = s
		if strings.Contains(s, ",") {
			quoted[i] = strconv.Quote(s)
		}
	}
	return strings.Join(quoted, ", ")
}

// A Source yields the rows of a table in order. Next returns io.EOF after the last
// chunk. Chunks stay valid; they may be used by several goroutines.
type Source interface {
	Header() *Header
	Next() (*Chunk, error)
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

// Rows is the number of rows.
func (c *Chunk) Rows() int { return c.rows }

// Line is where a row stands in the file: its line, or its number where the
// format has no lines. Both count from 1.
func (c *Chunk) Line(row int) int { return c.where[row] }

// Cell returns what a cell holds; the number is NaN unless it is one.
func (c *Chunk) Cell(row, col int) (Kind, float64) {
	v := c.cells[row*len(c.head.Columns)+col]
	switch k, _ := unbox(v); k {
	case padded:
		return Number, paddedValue(c.Text(row, col))
	case marked:
		return Missing, v
	default:
		return k, v
	}
}

// Text returns a cell as it was written, blanks around it removed, "" if it is
// missing.
func (c *Chunk) Text(row, col int) string {
	if k, _ := c.raw(row, col); k == marked {
		return ""
	}
	return c.written(row, col)
}

// written is Text, which also returns what stands for a missing value, such as NA.
func (c *Chunk) written(row, col int) string {
	switch k, ref := c.raw(row, col); k {
	case Text, padded, marked:
		return c.texts.text(c.first+row, col, ref, 0)
	case Number:
		return c.texts.text(c.first+row, col, -1, c.cells[row*len(c.head.Columns)+col])
	}
	return ""
}

func (c *Chunk) raw(row, col int) (k Kind, ref int) {
	return unbox(c.cells[row*len(c.head.Columns)+col])
}

// level returns the cell as a category: numbers in their one way of writing.
func (c *Chunk) level(row, col int) string {
	if k, v := c.Cell(row, col); k == Number {
		return label(v)
	}
	return c.Text(row, col)
}

// errorf is an error about a cell.
func (c *Chunk) errorf(row, col int, format string, args ...any) error {
	return fmt.Errorf("%s, column %s: %s", c.Where(row), c.head.Columns[col], fmt.Sprintf(format, args...))
}

// Where says where a row stands, for a message: the file and the line.
func (c *Chunk) Where(row int) string { return c.head.at(c.where[row]) }

func (h *Header) at(where int) string {
	unit := "row"
	if h.lines {
		unit = "line"
	}
	if h.File == "" { // rows that no file holds
		return fmt.Sprintf("%s %d", unit, where)
	}
	return fmt.Sprintf("%s %s %d", h.File, unit, where)
}

// short quotes a text for a message, its end cut off. Blanks of any kind, such as those
// between thousands, are shown as blanks.
func short(s string) string {
	if utf8.ValidString(s) { // %q shows other bytes as they are
		s = strings.Map(func(r rune) rune {
			if unicode.Is(unicode.Zs, r) {
				return ' '
			}
			return r
		}, s)
	}
	if r := []rune(s); len(r) > 40 {
		s = string(r[:40]) + "…"
	}
	return fmt.Sprintf("%q", s)
}

// each calls f for every chunk of a source.
func each(s Source, f func(*Chunk) error) error {
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

// listed holds texts in a list; numbers are written the shortest way.
type listed struct{ list []string }

func (l *listed) text(_, _, ref int, v cell) string {
	if ref < 0 {
		return label(v)
	}
	return l.list[ref]
}

func (c *Chunk) kind(row, col int) Kind {
	k, _ := c.Cell(row, col)
	return k
}
