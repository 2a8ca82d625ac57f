package table

import (
	"math"
	"strconv"
	"unicode/utf8"

	"utvi/internal/notation"
)

// A Builder makes chunks of rows that do not come from a text file: a request, another
// format. It is filled cell by cell, row by row.
type Builder struct {
	head  *Header
	cells []cell
	texts *listed
	first int // number of the first row
}

// NewBuilder returns a builder of rows with the columns of h.
func NewBuilder(h *Header) *Builder {
	if len(h.Columns) == 0 {
		panic("table: a table without columns")
	}
	return &Builder{head: h, texts: &listed{}, first: 1}
}

// Number adds a number; NaN is missing.
func (b *Builder) Number(v float64) { b.cells = append(b.cells, number(v)) }

// Missing adds a cell without a value.
func (b *Builder) Missing() { b.cells = append(b.cells, missing) }

// Text adds a text as it is, also one that looks like a number.
func (b *Builder) Text(s string) {
	b.cells = append(b.cells, box(Text, len(b.texts.list)))
	b.texts.list = append(b.texts.list, s)
}

// Parse adds a text as a field of a CSV file is read: as a number if it is one, as
// missing if it says so, otherwise as text. Blanks around it are removed.
func (b *Builder) Parse(s string) { b.ParseBytes([]byte(s)) }

// ParseBytes is Parse of bytes, of which it keeps a copy.
func (b *Builder) ParseBytes(s []byte) {
	t := trim(s)
	c := classify(t, '.', len(b.texts.list))
	if k, _ := unbox(c); k == Text || k == padded || k == marked {
		b.texts.list = append(b.texts.list, string(t))
	}
	b.cells = append(b.cells, c)
}

// Integer adds a whole number; one that float64 cannot hold exactly is an identifier and becomes text.
func (b *Builder) Integer(v int64) {
	if f := float64(v); f != math.MaxInt64 && int64(f) == v {
		b.Number(f)
		return
	}
	b.Text(strconv.FormatInt(v, 10))
}

// Rows is the number of rows that are complete.
func (b *Builder) Rows() int { return len(b.cells) / len(b.head.Columns) }

// Chunk returns the rows added since the last call, at most MaxRows. It reports text
// that is not UTF-8.
func (b *Builder) Chunk() (*Chunk, error) {
	width := len(b.head.Columns)
	n := b.Rows()
	if n*width != len(b.cells) || n > MaxRows {
		panic("table: a chunk of an incomplete row, or of too many rows")
	}
	c := &Chunk{head: b.head, rows: n, texts: b.texts, cells: b.cells, where: make([]int, n)}
	for i := range c.where {
		c.where[i] = b.first + i
	}
	b.first += n
	for i, v := range b.cells {
		if k, ref := unbox(v); k == Text && !utf8.ValidString(b.texts.list[ref]) {
			return nil, c.Errorf(i/width, i%width, "%s is not text in UTF-8", notation.Quote(b.texts.list[ref]))
		}
	}
	b.cells, b.texts = nil, &listed{}
	return c, nil
}
