package table

import (
	"archive/zip"
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"utvi/internal/compute"
	"utvi/internal/inputfile"
)

// HeaderRow says whether the first row of a CSV file names the columns.
type HeaderRow uint8

// What the first row is.
const (
	AnyHeader  HeaderRow = iota // names, unless it holds a number
	WithHeader                  // names
	NoHeader                    // data
)

// Options say how to read a table; the zero value detects everything.
type Options struct {
	Header    HeaderRow
	Delimiter byte          // 0: detected; ' ' stands for any spaces and tabs
	Decimal   byte          // what stands before fractions, '.' or ',', in columns whose cells leave that open (1,234); 0: detected
	Encoding  Encoding      // "": detected
	Pool      *compute.Pool // nil: a new pool of all cores

	// Used tells the columns that will be used, nil: all. Only they are asked what 1,234 means in
	// a column that does not say it itself.
	Used func(column string) bool
}

// A Reader reads a table from start to end.
type Reader struct {
	head *Header
	rows interface{ next() (*Chunk, error) }
	done []func() // what Close undoes, last first
	any  bool     // there was a row
}

// Header names the file and its columns.
func (r *Reader) Header() *Header { return r.head }

// Next returns the next rows, io.EOF after the last. A table without any is an
// error.
func (r *Reader) Next() (*Chunk, error) {
	c, err := r.rows.next()
	if err == io.EOF && !r.any {
		err = fmt.Errorf("%s has no rows", r.head.File)
		if r.head.Named {
			err = fmt.Errorf("%s has no rows, only the names of columns", r.head.File)
		}
	}
	r.any = true
	return c, err
}

// Close frees files and goroutines.
func (r *Reader) Close() error {
	for i := len(r.done) - 1; i >= 0; i-- {
		r.done[i]()
	}
	r.done = nil
	return nil
}

// Open opens the table in a file, or standard input if path is "-". Formats are
// recognised by their first bytes: gzip, .npy, .npz, those of Register (Parquet, if the
// program imports utvi/table/parquet), else text. The delimiter follows from the name
// (.tsv) or from the first lines.
func Open(path string, o Options) (*Reader, error) {
	if path == "-" {
		return NewReader(os.Stdin, "standard input", o)
	}
	f, _, err := inputfile.Open(path)
	if errors.Is(err, inputfile.ErrPipe) {
		return nil, fmt.Errorf("%w; send it to standard input and name the table -", err)
	}
	if err != nil {
		return nil, err
	}
	r, err := NewReader(f, path, o)
	if err != nil {
		f.Close()
		return nil, err
	}
	r.done = append([]func(){func() { f.Close() }}, r.done...)
	return r, nil
}

// NewReader reads a table from src. name is how messages call it; its extension
// may set the delimiter.
func NewReader(src io.Reader, name string, o Options) (*Reader, error) {
	r := &Reader{head: &Header{File: name}}
	if err := r.open(src, o); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// sniffSize is how much of a file decides on its format.
const sniffSize = 1 << 20

// open finds out the format and opens the file in it.
func (r *Reader) open(src io.Reader, o Options) error {
	file := r.head.File
	src, in, err := unpack(src, file)
	if err != nil {
		return err
	}
	start, err := in.Peek(sniffSize)
	if err != nil && err != io.EOF {
		return readError(file, err)
	}
	if len(bytes.TrimSpace(start)) == 0 && err == io.EOF {
		return fmt.Errorf("%s is empty", file)
	}
	if err := refuseExcel(file, start); err != nil {
		return err
	}
	f, failed := findFormat(start)
	switch {
	case failed != nil:
		return readError(file, failed)
	case f.Open != nil:
		return r.openFormat(f, src, in)
	case bytes.HasPrefix(start, []byte(npyMagic)):
		return r.openNpy(src, in)
	case bytes.HasPrefix(start, []byte("PK\x03\x04")):
		return r.openNpz(src, in)
	}
	if err := refuseForeign(file, start); err != nil {
		return err
	}
	return r.openText(in, start, o)
}

// unpack reads ahead, and takes off the compression of a file.
func unpack(src io.Reader, file string) (io.Reader, *bufio.Reader, error) {
	in := bufio.NewReaderSize(src, sniffSize)
	begin, _ := in.Peek(4)
	if !bytes.HasPrefix(begin, []byte{0x1f, 0x8b}) {
		return src, in, nil
	}
	z, err := gzip.NewReader(in)
	if err != nil {
		return nil, nil, readError(file, packError(err, begin))
	}
	src = unzip{z}
	return src, bufio.NewReaderSize(src, sniffSize), nil
}

// openText opens a text file in any encoding.
func (r *Reader) openText(in *bufio.Reader, start []byte, o Options) error {
	if e := o.Encoding.of(start); e != utf8Text {
		in = bufio.NewReaderSize(e.decode(in), sniffSize)
	}
	_, err := in.Peek(sniffSize)
	if err != nil && err != io.EOF {
		return readError(r.head.File, err)
	}
	ext := strings.ToLower(filepath.Ext(strings.TrimSuffix(r.head.File, ".gz")))
	return r.openCSV(in, err == io.EOF, ext, o)
}

// readError is an error of the system or of a format, with the file's name.
func readError(file string, err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	if errors.Is(err, zip.ErrChecksum) {
		err = errors.New("the file is damaged: a checksum of the archive does not match")
	}
	return fmt.Errorf("cannot read %s: %w", file, err)
}

// unzip distinguishes a truncated or damaged compressed file from a sound one.
type unzip struct{ *gzip.Reader }

func (u unzip) Read(p []byte) (int, error) {
	n, err := u.Reader.Read(p)
	return n, packError(err, nil)
}

var (
	errBrokenOff = errors.New("the compressed file is truncated")
	errDamaged   = errors.New("the compressed file is damaged")
)

// packError says what is wrong with a compressed file that begins with these bytes. Only
// one with a sound beginning can be truncated: its third byte is 8, and the upper bits of
// the fourth are 0 (RFC 1952).
func packError(err error, begin []byte) error {
	sound := (len(begin) < 3 || begin[2] == 8) && (len(begin) < 4 || begin[3]&0xe0 == 0)
	_, corrupt := errors.AsType[flate.CorruptInputError](err)
	switch {
	case err == io.ErrUnexpectedEOF && sound:
		return errBrokenOff
	case err == io.ErrUnexpectedEOF, err == gzip.ErrHeader, err == gzip.ErrChecksum, corrupt:
		return errDamaged
	}
	return err
}
