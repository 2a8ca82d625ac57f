// Package filelock keeps two processes from doing the same work. A process that dies
// loses its locks, so a lock is never stale. On a file system without locks, every
// process gets the lock.
package filelock

import (
	"errors"
	"fmt"
	"os"
)

// ErrBusy is returned if another process holds the lock.
var ErrBusy = errors.New("locked by another process")

// Hold creates the file at path, locks it and writes the process into it. It returns
// ErrBusy if another process has the lock. Release removes the file.
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

// Holder returns the process that holds the lock at path, "" if nobody does. To find
// out it holds the lock for a moment, so a single refusal of Hold means little.
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
