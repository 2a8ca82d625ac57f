package table

import (
	"io"
	"os"
)

// seekable gives random access to src, of which in has read ahead: to a regular
// file as it is, to anything else through a temporary file, since it need not fit
// into memory.
func (r *Reader) seekable(src, in io.Reader) (io.ReaderAt, int64, error) {
	if f, ok := src.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			return f, info.Size(), nil
		}
	}
	tmp, err := os.CreateTemp("", "utvi-table-")
	if err != nil {
		return nil, 0, readError(r.head.File, err)
	}
	r.done = append(r.done, func() {
		tmp.Close()
		os.Remove(tmp.Name())
	})
	size, err := io.Copy(tmp, in)
	if err != nil {
		return nil, 0, readError(r.head.File, err)
	}
	return tmp, size, nil
}
