// Package atomicfile replaces a file whole or not at all.
//
// A reader, or a program started after a crash, finds the old version or the
// new one, never a mixture: the new version is written beside the old one under
// a temporary name, brought to the disk, and renamed over it in one step.
package atomicfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// Write replaces the file at path by what f writes. f's writer is buffered.
//
// On any error, or a panic of f, the temporary file is removed and the old file
// is as it was; the single exception is a folder that fails to synchronise
// after the renaming, where the new version stands but may not survive a power
// cut. An existing file keeps its permissions, a new one gets 0644 less the
// umask; a symbolic link is followed. Several writers of one path do not
// disturb each other: the last one wins.
//
// A killed process leaves its temporary file, .name.tmp-<16 hex digits>, in the
// folder. Write removes those of its own path that were not written to for an
// hour.
func Write(path string, f func(w io.Writer) error) error {
	if err := write(path, f); err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	return nil
}

func write(path string, f func(w io.Writer) error) error {
	target, old, err := resolve(path)
	if err != nil {
		return err
	}
	dir, name := filepath.Split(target)
	dir = filepath.Clean(dir)
	tmp, err := create(dir, name)
	if err != nil {
		return err
	}
	// After success both find nothing to do.
	defer func() {
		tmp.Close()
		os.Remove(tmp.Name())
	}()
	sweep(tmp, dir, name) // before writing: it may free the space needed

	buf := bufio.NewWriterSize(bareWriter{tmp}, 1<<16)
	if err := f(buf); err != nil {
		return err
	}
	if err := buf.Flush(); err != nil {
		return err
	}
	if old != nil {
		if err := call("chmod", func() error { return tmp.Chmod(old.Mode().Perm()) }); err != nil {
			return err
		}
	}
	if err := call("sync", tmp.Sync); err != nil {
		return err
	}
	if err := call("close", tmp.Close); err != nil {
		return err
	}
	if err := call("rename", func() error { return os.Rename(tmp.Name(), target) }); err != nil {
		return err
	}
	return syncDir(dir)
}

// Fault, if set, is asked before each system call of a Write, by the call's name, and fails it
// with the error that it returns; a failed write has written half of its bytes, as on a full
// disk. Only tests set it.
var Fault func(call string) error

// call makes a system call.
func call(name string, f func() error) error {
	if Fault != nil {
		if err := Fault(name); err != nil {
			return err
		}
	}
	return bare(f())
}

// resolve follows a symbolic link and refuses what must not be replaced by a
// file: renaming over /dev/null would succeed. The old file is nil where there
// is none.
func resolve(path string) (target string, old fs.FileInfo, err error) {
	if path == "" || os.IsPathSeparator(path[len(path)-1]) {
		return "", nil, errors.New("this is not a file name")
	}
	link, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return path, nil, nil
	}
	if err != nil {
		return "", nil, bare(err)
	}
	if link.Mode()&fs.ModeSymlink != 0 {
		path, err = filepath.EvalSymlinks(path)
		if err != nil {
			return "", nil, fmt.Errorf("the link leads nowhere: %w", bare(err))
		}
	}
	old, err = os.Stat(path)
	switch {
	case err != nil:
		return "", nil, bare(err)
	case old.IsDir():
		return "", nil, errors.New("it is a folder")
	case !old.Mode().IsRegular():
		return "", nil, errors.New("it is not a regular file")
	case old.Mode().Perm()&0o222 == 0:
		return "", nil, errors.New("the file is read-only")
	}
	return path, old, nil
}

// syncDir makes a renaming durable, where the system can.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return nil // a folder may be writable but not readable
	}
	defer d.Close()
	err = call("sync folder", d.Sync)
	if err == nil || errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL) {
		return nil
	}
	return fmt.Errorf("the folder cannot be synchronised: %w", bare(err))
}

// bare takes the operation and the temporary name off an error of package os:
// the user knows neither.
func bare(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		return e.Err
	}
	return err
}

// A bareWriter does so at the source, where the path is surely ours.
type bareWriter struct{ f *os.File }

func (w bareWriter) Write(p []byte) (int, error) {
	if Fault != nil {
		if err := Fault("write"); err != nil {
			n, _ := w.f.Write(p[:len(p)/2])
			return n, err
		}
	}
	n, err := w.f.Write(p)
	return n, bare(err)
}
