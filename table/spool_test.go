package table

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What a stream is copied into is closed and gone when the reader is.
func TestSpooled(t *testing.T) {
	r := &Reader{head: &Header{File: "a.parquet"}}
	at, size, err := r.seekable(nil, strings.NewReader("text"))
	if err != nil || size != 4 {
		t.Fatalf("%d bytes, %v", size, err)
	}
	tmp := at.(*os.File)
	for _, done := range r.done {
		done()
	}
	_, err = tmp.Stat()
	if !errors.Is(err, os.ErrClosed) {
		t.Errorf("the file is still open: %v", err)
	}
	_, err = os.Stat(tmp.Name())
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file is still there: %v", err)
	}
}

// A stream that there is no room for is refused before it is read as a format.
func TestNoRoomForStreams(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	for _, name := range []string{"TMPDIR", "TMP", "TEMP"} {
		t.Setenv(name, missing)
	}
	opened := false
	f := Format{Magic: "XYZ1", Open: func(io.ReaderAt, int64) (Rows, error) {
		opened = true
		return nil, errors.New("not whole")
	}}
	r := &Reader{head: &Header{File: "a.xyz"}}
	err := r.openFormat(f, nil, strings.NewReader("XYZ1"))
	if opened || err == nil || !strings.Contains(err.Error(), "a.xyz") {
		t.Errorf("the format was opened: %v; the error is %v", opened, err)
	}
}
