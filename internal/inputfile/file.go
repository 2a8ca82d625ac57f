package inputfile

import (
	"io/fs"
	"os"
)

// A File is a regular file that is open to be read.
type File struct {
	file *os.File
	path string
}

// Fault, if tests set it, is asked before every read of up to n bytes from a file: how many of
// them come, and with which error.
var Fault func(path string, n int) (int, error)

// fault leaves of p what may be read before err.
func (f *File) fault(p []byte) ([]byte, error) {
	if Fault == nil {
		return p, nil
	}
	n, err := Fault(f.path, len(p))
	return p[:n], err
}

// Read implements io.Reader.
func (f *File) Read(p []byte) (int, error) {
	p, failed := f.fault(p)
	if failed != nil && len(p) == 0 {
		return 0, failed
	}
	n, err := f.file.Read(p)
	if failed != nil {
		err = failed
	}
	return n, err
}

// ReadAt implements io.ReaderAt, which promises all bytes or an error.
func (f *File) ReadAt(p []byte, at int64) (int, error) {
	some, failed := f.fault(p)
	if failed != nil {
		p = some
	}
	n, err := f.file.ReadAt(p, at)
	if failed != nil {
		err = failed
	}
	return n, err
}

// Seek implements io.Seeker.
func (f *File) Seek(offset int64, whence int) (int64, error) { return f.file.Seek(offset, whence) }

// Stat describes the file.
func (f *File) Stat() (fs.FileInfo, error) { return f.file.Stat() }

// Close implements io.Closer.
func (f *File) Close() error { return f.file.Close() }
