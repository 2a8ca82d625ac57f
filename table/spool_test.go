package table

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
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
	want := "a.xyz must be copied into a temporary file to be read, and none can be written in " + missing + ": no such file or directory; name a folder that has room in TMPDIR"
	if opened || err == nil || runtime.GOOS != "windows" && err.Error() != want {
		t.Errorf("the format was opened: %v; the error is %v\nwant %s", opened, err, want)
	}
}

// A stream that breaks off while it is copied is to blame itself.
func TestStreamBreaksOff(t *testing.T) {
	r := &Reader{head: &Header{File: "a.npz"}}
	_, _, err := r.seekable(nil, io.MultiReader(strings.NewReader("text"), iotest.ErrReader(errors.New("the line is dead"))))
	for _, done := range r.done {
		done()
	}
	if err == nil || err.Error() != "cannot read a.npz: the line is dead" {
		t.Error(err)
	}
}
