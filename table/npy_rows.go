package table

import (
	"archive/zip"
	"bufio"
	"fmt"
	"io"
	"strings"

	"utvi/internal/notation"
	"utvi/internal/npy"
)

// npyRows reads one or several arrays with the same number of rows side by side.
type npyRows struct {
	head   *Header
	arrays []*arrayRows
	row, n int
}

// An arrayRows is an array with its numbers, wherever they come from: in row
// order as a stream, in column order (Fortran) by their places.
type arrayRows struct {
	*array
	name   string
	member string // its name in an archive
	stream io.Reader
	places io.ReaderAt
	buf    []byte
}

func (r *Reader) openNpy(src io.Reader, in *bufio.Reader) error {
	a, err := readArray(in)
	if err != nil {
		return readError(r.head.File, err)
	}
	rows := &arrayRows{array: a, name: "c", stream: in}
	if err := r.place(rows, src, in); err != nil {
		return err
	}
	r.head.Columns = numbered("c", a.cols())
	r.rows = &npyRows{head: r.head, arrays: []*arrayRows{rows}, n: a.rows()}
	return nil
}

// place gives an array in column order random access to its numbers, where in
// stands; src is the whole file.
func (r *Reader) place(a *arrayRows, src, in io.Reader) error {
	if !a.Fortran || a.cols() == 1 {
		return nil
	}
	at, size, err := r.seekable(src, in)
	if err != nil {
		return err
	}
	if any(at) == any(src) { // not a copy of what is left
		size -= a.Start
	} else {
		a.Start = 0
	}
	length := int64(a.rows()) * int64(a.cols()*a.Size())
	if size < length {
		return readError(r.head.File, npy.ErrTruncated)
	}
	a.places = io.NewSectionReader(at, a.Start, length)
	return nil
}

func (r *Reader) openNpz(src io.Reader, in *bufio.Reader) error {
	at, size, err := r.seekable(src, in)
	if err != nil {
		return err
	}
	z, err := zip.NewReader(at, size)
	if err != nil {
		return readError(r.head.File, err)
	}
	if err := refuseArchive(r.head.File, z); err != nil {
		return err
	}
	rows := &npyRows{head: r.head}
	r.head.Named = true
	for _, f := range z.File {
		a, err := r.openMember(f)
		if err != nil {
			return err
		}
		if len(rows.arrays) == 0 {
			rows.n = a.rows()
		}
		if a.rows() != rows.n {
			return fmt.Errorf("%s: the array %s has %d rows, %s has %d; all arrays must have the same number of rows", r.head.File, a.name, a.rows(), rows.arrays[0].name, rows.n)
		}
		rows.arrays = append(rows.arrays, a)
		r.head.Columns = append(r.head.Columns, a.columns(a.name)...)
	}
	if len(rows.arrays) == 0 {
		return fmt.Errorf("%s holds no arrays", r.head.File)
	}
	r.rows = rows
	return r.head.Check()
}

// openMember opens one array of an archive, as a separate stream.
func (r *Reader) openMember(f *zip.File) (*arrayRows, error) {
	name := strings.TrimSuffix(f.Name, ".npy")
	m, err := f.Open()
	if err != nil {
		return nil, readError(r.head.File, err)
	}
	r.done = append(r.done, func() { m.Close() })
	in := bufio.NewReaderSize(m, 1<<16)
	a, err := readArray(in)
	if err != nil {
		return nil, fmt.Errorf("cannot read %s of %s: %w", notation.Printable(f.Name), r.head.File, err)
	}
	rows := &arrayRows{array: a, name: name, member: f.Name, stream: in}
	return rows, r.place(rows, m, in)
}

func (r *npyRows) next() (*Chunk, error) {
	width := len(r.head.Columns)
	n := min(MaxRows, max(1, maxCells/width), r.n-r.row)
	if n == 0 {
		return nil, r.end()
	}
	c := &Chunk{head: r.head, rows: n, texts: &listed{}, cells: make([]cell, n*width), where: make([]int, n)}
	for i := range c.where {
		c.where[i] = r.row + i + 1
	}
	col := 0
	for _, a := range r.arrays {
		if err := a.read(r.row, n, c.cells[col:], width); err != nil {
			if err == io.EOF || err == io.ErrUnexpectedEOF {
				err = npy.ErrTruncated
			}
			return nil, readError(r.head.File, err)
		}
		col += a.cols()
	}
	r.row += n
	return c, nil
}

// end returns io.EOF if the arrays end where their shapes say. An archive's checksum is compared
// by whoever reads beyond the last byte of a member.
func (r *npyRows) end() error {
	for _, a := range r.arrays {
		if a.stream == nil || a.places != nil { // the copy that gave the places was read whole
			continue
		}
		var more [1]byte
		switch n, err := io.ReadFull(a.stream, more[:]); {
		case n > 0 && a.member != "":
			return fmt.Errorf("cannot read %s of %s: bytes follow the numbers that its shape announces", notation.Printable(a.member), r.head.File)
		case n == 0 && err != io.EOF:
			return readError(r.head.File, err)
		}
	}
	return io.EOF
}

// read writes rows [row, row+n) to dst, whose rows are stride apart.
func (a *arrayRows) read(row, n int, dst []cell, stride int) error {
	size := a.Size()
	cols := a.cols()
	if a.places == nil {
		a.grow(n * cols * size)
		if _, err := io.ReadFull(a.stream, a.buf); err != nil {
			return err
		}
		for i := range n * cols {
			dst[i/cols*stride+i%cols] = number(a.Number(a.buf[i*size:]))
		}
		return nil
	}
	a.grow(n * size)
	for j := range cols {
		if _, err := a.places.ReadAt(a.buf, int64(j*a.rows()+row)*int64(size)); err != nil {
			return err
		}
		for i := range n {
			dst[i*stride+j] = number(a.Number(a.buf[i*size:]))
		}
	}
	return nil
}

func (a *arrayRows) grow(n int) {
	if cap(a.buf) < n {
		a.buf = make([]byte, n)
	}
	a.buf = a.buf[:n]
}
