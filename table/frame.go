package table

import "io"

// A Frame holds all rows of a table in memory, eight bytes a cell; texts are kept
// once each.
type Frame struct {
	head   *Header
	chunks []*Chunk // all but the last are full
	rows   int
	texts  *listed
	known  map[string]int
	padded []bool // columns with such cells
}

// Load reads all rows of a source.
func Load(s Source) (*Frame, error) {
	f := &Frame{head: s.Header(), texts: &listed{}, known: map[string]int{}, padded: make([]bool, len(s.Header().Columns))}
	err := Each(s, func(c *Chunk) error {
		for row := range c.Rows() {
			f.keep(c, row)
		}
		return nil
	})
	return f, err
}

// keep copies a row, its texts to the common list.
func (f *Frame) keep(c *Chunk, row int) {
	width := len(f.head.Columns)
	if f.rows%MaxRows == 0 {
		f.chunks = append(f.chunks, &Chunk{head: f.head, texts: f.texts})
	}
	last := f.chunks[len(f.chunks)-1]
	last.cells = append(last.cells, c.cells[row*width:(row+1)*width]...)
	last.where = append(last.where, c.where[row])
	for col, v := range last.cells[last.rows*width:] {
		k, _ := unbox(v)
		if k == Text || k == padded || k == marked {
			last.cells[last.rows*width+col] = box(k, f.intern(c.Written(row, col)))
		}
		if k == padded {
			f.padded[col] = true
		}
	}
	last.rows++
	f.rows++
}

func (f *Frame) intern(s string) int {
	i, ok := f.known[s]
	if !ok {
		i = len(f.texts.list)
		f.texts.list = append(f.texts.list, s)
		f.known[s] = i
	}
	return i
}

// Header names the table and its columns.
func (f *Frame) Header() *Header { return f.head }

// Len is the number of rows.
func (f *Frame) Len() int { return f.rows }

// At returns the chunk of a row, and its place there.
func (f *Frame) At(row int) (*Chunk, int) { return f.chunks[row/MaxRows], row % MaxRows }

// Rows returns a source of the given rows, of all rows if nil.
func (f *Frame) Rows(rows []int) Source { return &selection{f, rows, rows == nil, 0} }

type selection struct {
	f    *Frame
	rows []int
	all  bool
	next int
}

func (s *selection) Header() *Header { return s.f.head }

// Padded reports whether a column of the frame has cells such as 01067.
func (s *selection) Padded(col int) bool { return s.f.padded[col] }

func (s *selection) Next() (*Chunk, error) {
	if s.all {
		if s.next == len(s.f.chunks) {
			return nil, io.EOF
		}
		s.next++
		return s.f.chunks[s.next-1], nil
	}
	n := min(MaxRows, len(s.rows)-s.next)
	if n == 0 {
		return nil, io.EOF
	}
	width := len(s.f.head.Columns)
	c := &Chunk{head: s.f.head, rows: n, texts: s.f.texts, cells: make([]cell, n*width), where: make([]int, n)}
	for i, row := range s.rows[s.next : s.next+n] {
		from, at := s.f.At(row)
		copy(c.cells[i*width:(i+1)*width], from.cells[at*width:])
		c.where[i] = from.where[at]
	}
	s.next += n
	return c, nil
}
