// Package filelock keeps two processes from one piece of work. A process that dies
// loses its locks, so none is ever stale. Where a file system has no locks, nobody is
// kept out.
package filelock

import (
	"errors"
	"fmt"
	"os"
)

// ErrBusy says that another process holds the lock.
var ErrBusy = errors.New("another process is at it")

// Hold takes the lock that is the file at path, which it makes and writes its name
// into; ErrBusy where another process has it. Release removes the file.
func Hold(path string) (release func(), err error) {
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
		if err != nil {
			return nil, err
		}
		if err := lock(f, true); err != nil {
			f.Close()
			return nil, err
		}
		// The last holder may have removed the file between our two calls.
		mine, err1 := f.Stat()
		there, err2 := os.Stat(path)
		if err1 != nil || err2 != nil || !os.SameFile(mine, there) {
			f.Close()
			continue
		}
		host, _ := os.Hostname()
		f.Truncate(0)
		fmt.Fprintf(f, "%s, process %d\n", host, os.Getpid())
		return func() {
			os.Remove(path)
			f.Close()
		}, nil
	}
}

// Holder tells who holds the lock at path, "" for no one. To find out it has the
// lock for a moment, so one refusal of Hold means little where others look.
func Holder(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	if !errors.Is(lock(f, false), ErrBusy) {
		return ""
	}
	b := make([]byte, 200)
	n, _ := f.Read(b)
	for i, c := range b[:n] {
		if c < ' ' {
			n = i
			break
		}
	}
	if n == 0 {
		return "another process"
	}
	return string(b[:n])
}
