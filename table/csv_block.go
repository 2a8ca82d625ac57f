package table

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"utvi/internal/notation"
)

// blank is the delimiter of files whose fields stand apart by spaces and tabs, in
// any number.
const blank = ' '

// A block is a piece of a CSV file that ends with a line: what one task parses.
type block struct {
	delim  byte   // between fields
	points []byte // by column, before the fraction of a number: a point, or a comma
	head   *Header
	data   []byte

	cells    []cell
	starts   []uint32 // of each row in data
	lines    []int    // of each row, counted from the start of the block
	newlines int
	err      *rowError
}

// A rowError is what is wrong on a line, counted from the start of the block.
type rowError struct {
	line int
	col  int // −1: the row as a whole
	what string
}

// parse fills cells, starts and lines. After the first error it goes no further.
func (b *block) parse() {
	width := len(b.head.Columns)
	lines := bytes.Count(b.data, []byte{'\n'}) + 1
	b.cells = make([]cell, 0, min(lines*width, len(b.data)+1)) // a cell takes a byte or more
	b.starts, b.lines = make([]uint32, 0, lines), make([]int, 0, lines)
	for at := 0; at < len(b.data) && b.err == nil; {
		at = b.row(at, width)
	}
}

// row parses the row at a position and returns where the next one begins.
func (b *block) row(at, width int) int {
	data, line := b.data, b.newlines
	if next := skipBlankLine(data, at); next > at {
		b.newlines++
		return next
	}
	start, cols := at, 0
	for {
		var c cell
		var last bool
		c, at, last = b.field(at, b.point(cols))
		if b.err != nil {
			b.err.line += line
			b.err.col = min(cols, width-1)
			return at
		}
		if cols < width {
			b.cells = append(b.cells, c)
		}
		cols++
		if last {
			break
		}
	}
	b.newlines++
	if cols != width {
		b.err = &rowError{line, -1, fmt.Sprintf("%d fields where %d are expected", cols, width)}
		return at
	}
	b.starts = append(b.starts, uint32(start))
	b.lines = append(b.lines, line)
	return at
}

func (b *block) point(col int) byte {
	if col < len(b.points) {
		return b.points[col]
	}
	return '.' // of a column too many
}

// skipBlankLine returns the start of the line after a blank one.
func skipBlankLine(data []byte, at int) int {
	i := at
	for i < len(data) && (data[i] == ' ' || data[i] == '\r') {
		i++
	}
	switch {
	case i == len(data):
		return i
	case data[i] == '\n':
		return i + 1
	}
	return at
}

// field parses one field and returns where the next one begins, and whether it
// was the last of its row.
func (b *block) field(at int, point byte) (c cell, next int, last bool) {
	data := b.data
	at = b.skip(at)
	// The common case: a plain number, then a delimiter or the line's end. A comma that parts fields
	// stands before no fraction, unless in quotes.
	plain := point
	if plain == b.delim {
		plain = '.'
	}
	if v, n := notation.ScanFloat(data[at:], plain); n > 0 && (plain == point || bytes.IndexByte(data[at:at+n], '.') < 0) {
		if next, last, ok := b.end(at + n); ok {
			if notation.IsPadded(data[at : at+n]) {
				v = box(padded, at)
			}
			return v, next, last
		}
	}
	if at < len(data) && data[at] == '"' {
		return b.quoted(at, point)
	}
	end := at
	for end < len(data) && data[end] != '\n' && !b.delimits(data[end]) {
		if data[end] == '"' {
			b.err = &rowError{what: `a quote (") inside a field that does not begin with one; put the field in quotes and double those within`}
			return missing, end, true
		}
		end++
	}
	s := bytes.TrimRight(data[at:end], " \t\r")
	c = b.check(s, at, point)
	next, last, _ = b.end(end)
	return c, next, last
}

// check is classify, which refuses texts that are not UTF-8.
func (b *block) check(s []byte, at int, point byte) cell {
	c := classify(s, point, at)
	if k, _ := unbox(c); k == Text && (!utf8.Valid(s) || bytes.IndexByte(s, 0) >= 0) {
		b.err = &rowError{what: fmt.Sprintf("%s is not text in UTF-8; name the encoding of the file, such as latin1, or convert it", notation.Quote(string(s)))}
	}
	return c
}

// quoted parses a field in quotes; it may hold delimiters and lines.
func (b *block) quoted(at int, point byte) (c cell, next int, last bool) {
	end := closing(b.data, at)
	if end < 0 {
		b.err = &rowError{what: "a quoted field is never closed"}
		return missing, len(b.data), true
	}
	c = b.check(unquote(b.data[at:end]), at, point)
	next, last, ok := b.end(end)
	if !ok && b.err == nil {
		b.err = &rowError{what: "text follows a closing quote; double the quotes within a quoted field"}
	}
	b.newlines += bytes.Count(b.data[at:end], []byte{'\n'})
	return c, next, last
}

// closing returns the position after the quote that closes the one at at, −1 if
// none does.
func closing(data []byte, at int) int {
	for i := at + 1; ; i += 2 {
		j := bytes.IndexByte(data[i:], '"')
		if j < 0 {
			return -1
		}
		i += j
		if i+1 == len(data) || data[i+1] != '"' {
			return i + 1
		}
	}
}

// unquote returns what a quoted field says, blanks around it removed.
func unquote(s []byte) []byte {
	s = s[1 : len(s)-1]
	if bytes.IndexByte(s, '"') >= 0 {
		s = bytes.ReplaceAll(s, []byte(`""`), []byte(`"`))
	}
	if bytes.IndexByte(s, '\r') >= 0 {
		s = bytes.ReplaceAll(s, []byte("\r\n"), []byte("\n"))
	}
	return bytes.TrimSpace(s)
}

func (b *block) delimits(c byte) bool {
	return c == b.delim || b.delim == blank && c == '\t'
}

// skip passes over blanks that are not delimiters.
func (b *block) skip(at int) int {
	for at < len(b.data) && (b.data[at] == ' ' || b.data[at] == '\t' && b.delim != '\t') {
		at++
	}
	return at
}

// end reads what must follow a field: a delimiter or the end of the row.
func (b *block) end(at int) (next int, last, ok bool) {
	data := b.data
	if at < len(data) && data[at] == b.delim && b.delim != blank {
		return at + 1, false, true
	}
	blanks := at
	at = b.skip(at)
	switch {
	case at == len(data):
		return at, true, true
	case data[at] == '\n':
		return at + 1, true, true
	case data[at] == '\r' && (at+1 == len(data) || data[at+1] == '\n'):
		return min(at+2, len(data)), true, true
	case b.delim == blank:
		return at, false, at > blanks
	case data[at] == b.delim:
		return at + 1, false, true
	}
	return at, false, false
}

// text implements texts.
func (b *block) text(row, col, ref int, _ cell) string {
	at := ref
	if ref < 0 { // a number: pass over the fields before it
		at = int(b.starts[row])
		for range col {
			at = b.pass(at)
		}
		at = b.skip(at)
	}
	if b.data[at] == '"' {
		return string(unquote(b.data[at:closing(b.data, at)]))
	}
	end := at
	for end < len(b.data) && b.data[end] != '\n' && !b.delimits(b.data[end]) {
		end++
	}
	return string(bytes.TrimRight(b.data[at:end], " \t\r"))
}

// pass returns where the field after the one at at begins.
func (b *block) pass(at int) int {
	at = b.skip(at)
	if at < len(b.data) && b.data[at] == '"' {
		at = closing(b.data, at)
	}
	for !b.delimits(b.data[at]) {
		at++
	}
	if b.delim == blank {
		return b.skip(at)
	}
	return at + 1
}
