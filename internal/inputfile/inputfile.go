// Package inputfile opens files that others made: models, tables, graphs, settings.
//
// It is the one door for them. What is not a regular file is refused, because a pipe may never
// end and a device has no size; nothing waits for the other end of a pipe; and a file that is
// read whole is compared with the memory that may still be taken before any is.
package inputfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"utvi/internal/memory"
)

// ErrPipe is the reason why a pipe is refused.
var ErrPipe = errors.New("it is a pipe, not a regular file")

// Open opens a regular file and returns its size. An error is one sentence that names the file.
func Open(path string) (*File, int64, error) {
	f, size, err := open(path)
	if err != nil {
		return nil, 0, fmt.Errorf("cannot read %s: %w", path, err)
	}
	return f, size, nil
}

func open(path string) (*File, int64, error) {
	// Looked at before it is opened: to open a device can change it.
	info, err := os.Stat(path)
	if err != nil {
		return nil, 0, bare(err)
	}
	if err := regular(info); err != nil {
		return nil, 0, err
	}
	// And again once it is open: the name may lead elsewhere by now. A pipe would wait for its
	// writer, so it is opened without waiting.
	f, err := os.OpenFile(path, os.O_RDONLY|doNotWait, 0)
	if err != nil {
		return nil, 0, bare(err)
	}
	info, err = f.Stat()
	if err == nil {
		err = regular(info)
	}
	if err != nil {
		f.Close()
		return nil, 0, bare(err)
	}
	return &File{f, path}, info.Size(), nil
}

// Read reads a regular file whole. It refuses a file for which less than needs times its size is
// left of the memory: needs is how many bytes the caller takes for a byte of the file, the copy
// itself included.
func Read(path string, needs float64) ([]byte, error) {
	b, err := read(path, needs, memory.Available())
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", path, err)
	}
	return b, nil
}

func read(path string, needs, available float64) ([]byte, error) {
	f, size, err := open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := fits(size, needs, available); err != nil {
		return nil, err
	}
	// The file may grow or shrink meanwhile: no more is read than was accounted for.
	b := make([]byte, size)
	n, err := io.ReadFull(f, b)
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		err = nil
	}
	if err != nil {
		return nil, bare(err)
	}
	return b[:n], nil
}

// Fits returns an error if less than needs times a file's size is left of the memory.
func Fits(size int64, needs float64) error { return fits(size, needs, memory.Available()) }

func fits(size int64, needs, available float64) error {
	want := needs * float64(size)
	if want <= available {
		return nil
	}
	return fmt.Errorf("its %s need about %s of memory, and %s are free", bytes(float64(size)), bytes(want), bytes(available))
}

func regular(info fs.FileInfo) error {
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		return errors.New("it is a folder")
	case mode&fs.ModeNamedPipe != 0:
		return ErrPipe
	case mode&fs.ModeDevice != 0:
		return errors.New("it is a device, not a regular file")
	}
	return errors.New("it is not a regular file")
}

// bare takes the operation and the path off an error: the sentence names the file already.
func bare(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

func bytes(n float64) string {
	for _, u := range []string{"bytes", "KiB", "MiB"} {
		if n < 1024 {
			return fmt.Sprintf("%.4g %s", n, u)
		}
		n /= 1024
	}
	return fmt.Sprintf("%.4g GiB", n)
}
