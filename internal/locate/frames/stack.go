// Package frames reads the frames of cameras, one at a time: TIFF, BigTIFF and ImageJ stacks,
// Picasso's .raw with .yaml, and .npy, in one file or in many. What is kept in memory is the
// place of each frame, not the frames. It also writes stacks, as TIFF.
package frames

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sort"
	"strings"

	"utvi/internal/inputfile"
)

// A Stack is a series of frames of one size, in one or more files. It holds no open files.
type Stack struct {
	Width, Height int
	Frames        int
	Bytes         int64 // of all files
	// Damage says that the last file ends within a frame; nil if it does not. Frames counts
	// the whole ones.
	Damage error
	parts  []part
}

// A part is one file of a stack.
type part struct {
	path  string
	first int // frame of the stack
	layout
}

// A layout knows where the frames of a file are.
type layout interface {
	frames() int
	size() (width, height int)
	// read stores frame i in dst; s is scratch memory of the caller.
	read(f io.ReaderAt, i int, dst []float32, s *scratch) error
}

// scratch is memory that one reader uses again for each frame.
type scratch struct {
	raw, pixels []byte
	page        page
}

// maxPixels bounds the size of a frame.
const maxPixels = 1 << 26

// Open reads where the frames of a stack are. Several files are one stack, in this order; a folder
// stands for its TIFF files, in the order of the numbers in their names. The files that
// Micro-Manager split off the first one are found by their names.
func Open(paths ...string) (*Stack, error) {
	paths, err := expand(paths)
	if err != nil {
		return nil, err
	}
	s := &Stack{}
	for _, path := range paths {
		if s.Damage != nil {
			return nil, s.Damage
		}
		l, size, err := inspect(path)
		s.Bytes += size
		if cut, ok := errors.AsType[*truncatedError](err); ok && cut.whole > 0 {
			s.Damage = fmt.Errorf("%s: %w", path, cut)
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		w, h := l.size()
		if len(s.parts) == 0 {
			s.Width, s.Height = w, h
		}
		if w != s.Width || h != s.Height {
			return nil, fmt.Errorf("%s: its frames are %d×%d, those of %s %d×%d; the files of a stack have frames of one size", path, w, h, s.parts[0].path, s.Width, s.Height)
		}
		s.parts = append(s.parts, part{path, s.Frames, l})
		s.Frames += l.frames()
	}
	return s, nil
}

func inspect(path string) (l layout, size int64, err error) {
	f, size, err := inputfile.Open(path)
	if err != nil {
		return nil, 0, errors.Unwrap(err)
	}
	defer f.Close()
	if size == 0 {
		return nil, 0, errors.New("the file is empty")
	}
	switch ext := strings.ToLower(filepath.Ext(path)); ext {
	case ".raw":
		l, err = openRaw(path, size)
	case ".npy":
		l, err = openNpy(f, size)
	default:
		l, err = openTIFF(f, size, ext)
	}
	return l, size, err
}

// Reader reads the frames of a stack. Each goroutine takes one of its own.
type Reader struct {
	stack *Stack
	open  int // part of file
	file  *inputfile.File
	scratch
}

// NewReader returns a reader; Close ends it.
func (s *Stack) NewReader() *Reader { return &Reader{stack: s, open: -1} }

// Read stores the counts of frame i, row by row from the top.
func (r *Reader) Read(i int, dst []float32) error {
	s := r.stack
	at := sort.Search(len(s.parts), func(k int) bool { return s.parts[k].first > i }) - 1
	p := &s.parts[at]
	if r.open != at {
		r.Close()
		f, _, err := inputfile.Open(p.path)
		if err != nil {
			return err
		}
		r.file = f
		r.open = at
	}
	if err := p.read(r.file, i-p.first, dst[:s.Width*s.Height], &r.scratch); err != nil {
		return fmt.Errorf("%s: frame %d: %w", p.path, i-p.first+1, err)
	}
	return nil
}

// Close closes the file that is open.
func (r *Reader) Close() error {
	if r.file == nil {
		return nil
	}
	err := r.file.Close()
	r.file = nil
	r.open = -1
	return err
}

// Name is the file of frame i, and the number of the frame in it, from 0.
func (s *Stack) Name(i int) (path string, frame int) {
	at := sort.Search(len(s.parts), func(k int) bool { return s.parts[k].first > i }) - 1
	return s.parts[at].path, i - s.parts[at].first
}

func checkSize(width, height int) error {
	if width < 1 || height < 1 || width > maxPixels/height {
		return fmt.Errorf("its frames are %d×%d pixels; the header is damaged", width, height)
	}
	return nil
}

// buffer returns n bytes, of b if it has room.
func buffer(b *[]byte, n int) []byte {
	if cap(*b) < n {
		*b = make([]byte, n)
	}
	*b = (*b)[:n]
	return *b
}

// readFull reads at an offset; a file that ends before is truncated.
func readFull(f io.ReaderAt, b []byte, at int64) error {
	n, err := f.ReadAt(b, at)
	if n == len(b) {
		return nil
	}
	if err == io.EOF {
		return errTruncated
	}
	return err
}

var errTruncated = errors.New("the file is truncated")
