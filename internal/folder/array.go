package folder

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"utvi/internal/inputfile"
	"utvi/internal/npy"
	"utvi/internal/pixels"
	"utvi/table"
)

// An Array says where the images of a .npy file are, and their targets.
type Array struct {
	Path    string
	Layout  string // one of pixels.Layouts; "": by the shape
	Targets string // a .npy file with a class or numbers for each image; "": there are none
}

// IsArray reports whether a path is that of a .npy file with three axes or more, which are no rows and
// columns.
func IsArray(path string) bool {
	h, err := header(path)
	return err == nil && len(h.Shape) > 2
}

func header(path string) (*npy.Header, error) {
	if !strings.EqualFold(filepath.Ext(path), ".npy") {
		return nil, fmt.Errorf("%s is no .npy file", path)
	}
	f, _, err := inputfile.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h, err := npy.Read(bufio.NewReader(f))
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", path, err)
	}
	return h, nil
}

// TargetNames are what the columns of a .npy file of targets are called: its name, with numbers if there
// are several. classes reports whether whole numbers are stored, in one column.
func TargetNames(path string) (names []string, classes bool, err error) {
	h, err := header(path)
	if err != nil {
		return nil, false, err
	}
	stem := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	if len(h.Shape) == 1 || len(h.Shape) == 2 && h.Shape[1] == 1 {
		return []string{stem}, h.Kind[0] != 'f', nil
	}
	if len(h.Shape) != 2 {
		return nil, false, fmt.Errorf("%s has the shape (%.60s); a class or a number for each image is needed, or a row of numbers", path, h.Written)
	}
	for i := range h.Shape[1] {
		names = append(names, stem+strconv.Itoa(i+1))
	}
	return names, false, nil
}

// A Slab is the rows of an array of images: what each image is called, and its targets.
type Slab struct {
	images  *pixels.Array
	layout  string
	file    string
	targets *table.Frame // nil: there are none
	head    *table.Header
	next    int
}

// Open opens the array and its targets.
func (a Array) Open(n Names) (*Slab, error) {
	images, err := pixels.OpenArray(a.Path, a.Layout)
	if err != nil {
		return nil, err
	}
	s := &Slab{images: images, layout: a.Layout, file: filepath.Base(a.Path)}
	s.head = &table.Header{File: a.Path, Folder: filepath.Dir(a.Path), Named: true, Columns: []string{cmp.Or(n.File, File)}}
	if a.Targets == "" {
		return s, nil
	}
	names, _, err := TargetNames(a.Targets)
	if err != nil {
		return nil, err
	}
	if n.Targets != nil {
		if len(n.Targets) != len(names) {
			return nil, fmt.Errorf("%s has %d columns; the model has %d targets", a.Targets, len(names), len(n.Targets))
		}
		names = n.Targets
	}
	s.head.Columns = append(s.head.Columns, names...)
	r, err := table.Open(a.Targets, table.Options{})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	s.targets, err = table.Load(r)
	if err != nil {
		return nil, err
	}
	if s.targets.Len() != images.Images {
		return nil, fmt.Errorf("%s has %d images, %s has %d rows; each image needs one", a.Path, images.Images, a.Targets, s.targets.Len())
	}
	return s, nil
}

// Rows is the number of images.
func (s *Slab) Rows() int { return s.images.Images }

// Header implements table.Source.
func (s *Slab) Header() *table.Header { return s.head }

// Next implements table.Source.
func (s *Slab) Next() (*table.Chunk, error) {
	end := min(s.next+rowsOfChunk, s.Rows())
	if s.next == end {
		return nil, io.EOF
	}
	b := table.NewBuilder(s.head)
	for ; s.next < end; s.next++ {
		b.Text(pixels.InArray(s.file, s.next, s.layout))
		if s.targets == nil {
			continue
		}
		c, at := s.targets.At(s.next)
		for col := range s.targets.Header().Columns {
			kind, v := c.Cell(at, col)
			if kind == table.Number {
				b.Number(v)
			} else {
				b.Missing()
			}
		}
	}
	return b.Chunk()
}

// Close implements io.Closer.
func (s *Slab) Close() error { return nil }
