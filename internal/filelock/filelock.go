// Package filelock keeps two processes from one piece of work. A process that dies
// loses its locks, so none is ever stale. Where a file system has no locks, nobody is
// kept out.
package filelock

import (
	"errors"
	"os"
)

// ErrBusy says that another process holds the lock.
var ErrBusy = errors.New("another process holds the lock")

// Hold takes the lock that is the file at path, which it makes; ErrBusy where another
// process has it. Release removes the file.
func Hold(path string) (release func(), err error) {
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
		if err != nil {
			return nil, err
		}
		if err := lock(f); err != nil {
			f.Close()
			return nil, err
		}
		// The last holder may have removed the file between our two calls.
		mine, err1 := f.Stat()
		there, err2 := os.Stat(path)
		if err1 == nil && err2 == nil && os.SameFile(mine, there) {
			return func() {
				os.Remove(path)
				f.Close()
			}, nil
		}
		f.Close()
	}
}
