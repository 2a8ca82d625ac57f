package folder

import (
	"fmt"
	"io"

	"utvi/table"
)

// Rows are rows that have been read whole.
type Rows struct {
	head   *table.Header
	frames []*table.Frame // beside each other
	next   int
}

// Beside puts the columns of two arrays beside each other: inputs and targets, called as a model calls
// them.
func Beside(x, y table.Source, n Names) (*Rows, error) {
	r := &Rows{head: &table.Header{File: x.Header().File, Folder: x.Header().Folder, Named: true}}
	for i, s := range []table.Source{x, y} {
		f, err := table.Load(s)
		if err != nil {
			return nil, err
		}
		names := [][]string{n.Inputs, n.Targets}[i]
		what := []string{"inputs", "targets"}[i]
		if have := len(f.Header().Columns); have != len(names) {
			return nil, fmt.Errorf("%s has %d columns; the model has %d %s", f.Header().File, have, len(names), what)
		}
		r.head.Columns = append(r.head.Columns, names...)
		r.frames = append(r.frames, f)
	}
	if a, b := r.frames[0], r.frames[1]; a.Len() != b.Len() {
		return nil, fmt.Errorf("%s has %d rows, %s has %d; each row needs its targets", a.Header().File, a.Len(), b.Header().File, b.Len())
	}
	return r, nil
}

// Rows is the number of rows.
func (r *Rows) Rows() int { return r.frames[0].Len() }

// Header implements table.Source.
func (r *Rows) Header() *table.Header { return r.head }

// Next implements table.Source.
func (r *Rows) Next() (*table.Chunk, error) {
	end := min(r.next+table.MaxRows, r.Rows())
	if r.next == end {
		return nil, io.EOF
	}
	b := table.NewBuilder(r.head)
	for ; r.next < end; r.next++ {
		for _, f := range r.frames {
			c, at := f.At(r.next)
			for col := range f.Header().Columns {
				if kind, v := c.Cell(at, col); kind == table.Number {
					b.Number(v)
				} else {
					b.Missing()
				}
			}
		}
	}
	return b.Chunk()
}

// Close implements io.Closer.
func (r *Rows) Close() error { return nil }
