package table

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// seekable gives random access to src, of which in has read ahead: to a regular
// file as it is, to anything else through a temporary file, since it need not fit
// into memory.
func (r *Reader) seekable(src, in io.Reader) (io.ReaderAt, int64, error) {
	if f, ok := src.(onDisk); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			return f, info.Size(), nil
		}
	}
	tmp, err := os.CreateTemp("", "utvi-table-")
	if err != nil {
		return nil, 0, copyError(r.head.File, err)
	}
	r.done = append(r.done, func() {
		tmp.Close()
		os.Remove(tmp.Name())
	})
	to := &spooled{to: tmp}
	size, err := io.Copy(to, in)
	switch {
	case to.err != nil:
		return nil, 0, copyError(r.head.File, to.err)
	case err != nil:
		return nil, 0, readError(r.head.File, err)
	}
	return tmp, size, nil
}

// An onDisk is a file that can be read anywhere, if it is a regular one.
type onDisk interface {
	io.ReaderAt
	Stat() (fs.FileInfo, error)
}

// A spooled file remembers that it could not be written, which is no fault of what is copied.
type spooled struct {
	to  io.Writer
	err error
}

func (s *spooled) Write(p []byte) (int, error) {
	n, err := s.to.Write(p)
	if err != nil {
		s.err = err
	}
	return n, err
}

// copyError says that no copy can be made in the folder of temporary files.
func copyError(file string, err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	return fmt.Errorf("%s must be copied into a temporary file to be read, and none can be written in %s: %w; name a folder that has room in TMPDIR", file, os.TempDir(), err)
}
