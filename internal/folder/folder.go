// Package folder shows a folder of images as a table: the file of each image, the class that its
// subfolder names, and whether it lies in the part for testing.
package folder

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"utvi/internal/pixels"
	"utvi/table"
)

// The columns of the table.
const (
	File  = "file"  // the path, from the folder on
	Class = "class" // missing where an image lies in no subfolder
	Part  = "part"  // train or test, where the folder has such parts
)

// What Part says.
const (
	Train = "train"
	Test  = "test"
)

// Is reports whether a path is that of a folder.
func Is(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// Names are what a model calls the columns; "" stands for File and Class. Targets are those of an
// array; nil: they are called as its file.
type Names struct {
	File, Class string
	Targets     []string
	Inputs      []string // of an array of rows; nil: as its file calls them
}

// A Source is the rows of a folder.
type Source struct {
	// parted is set if the folder has parts, and the table the column Part.
	parted bool

	files []pixels.File
	head  *table.Header
	next  int
}

// Open finds the images of a folder.
func Open(path string, n Names) (*Source, error) {
	found, err := pixels.Find(path)
	if err != nil {
		return nil, err
	}
	if len(found.Files) == 0 {
		return nil, fmt.Errorf("cannot read %s: it is a folder without images (PNG, JPEG, GIF, BMP, WebP or TIFF); give a file with a table, or a folder of images", path)
	}
	return open(path, path, found, n), nil
}

// One is the row of one image file, without a class.
func One(path string, n Names) *Source {
	return open(path, filepath.Dir(path), &pixels.Found{Files: []pixels.File{{Path: filepath.Base(path)}}}, n)
}

func open(name, root string, found *pixels.Found, n Names) *Source {
	s := &Source{parted: found.Parted, files: found.Files}
	s.head = &table.Header{File: name, Folder: root, Named: true, Columns: []string{cmp.Or(n.File, File), cmp.Or(n.Class, Class)}}
	if s.parted {
		s.head.Columns = append(s.head.Columns, Part)
	}
	return s
}

// CheckClasses returns an error unless subfolders part the images into classes.
func (s *Source) CheckClasses() error {
	classes := map[string]bool{}
	for _, f := range s.files {
		if f.Class != "" {
			classes[f.Class] = true
		}
	}
	const how = "put the images of each class into a subfolder that is named for it, such as cats and dogs"
	switch len(classes) {
	case 0:
		return fmt.Errorf("%s has images, but no subfolders with images: %s, or name the files and their classes in a table", s.head.File, how)
	case 1:
		return fmt.Errorf("%s has images of one class only, %s: at least 2 are needed; %s", s.head.File, s.only(), how)
	}
	return nil
}

// only is a class that images have.
func (s *Source) only() string {
	for _, f := range s.files {
		if f.Class != "" {
			return f.Class
		}
	}
	return ""
}

// Rows is the number of images.
func (s *Source) Rows() int { return len(s.files) }

// Header implements table.Source.
func (s *Source) Header() *table.Header { return s.head }

const rowsOfChunk = 64

// Next implements table.Source. Chunks have few rows, so that work on them is shared evenly and
// their images take little memory.
func (s *Source) Next() (*table.Chunk, error) {
	files := s.files[s.next:]
	files = files[:min(rowsOfChunk, len(files))]
	if len(files) == 0 {
		return nil, io.EOF
	}
	b := table.NewBuilder(s.head)
	for _, f := range files {
		b.Text(f.Path)
		if f.Class == "" {
			b.Missing()
		} else {
			b.Text(f.Class)
		}
		if s.parted {
			b.Text(part(f))
		}
	}
	s.next += len(files)
	return b.Chunk()
}

// Close implements io.Closer.
func (s *Source) Close() error { return nil }

func part(f pixels.File) string {
	if f.Test {
		return Test
	}
	return Train
}
