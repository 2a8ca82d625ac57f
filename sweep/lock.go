package sweep

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// errBusy says that another process is at the trial.
var errBusy = errors.New("another process is at it")

// hold takes the lock of the trial whose files begin with stem, errBusy where
// another process has it. A process that dies loses its locks, so none is ever
// stale. Where a file system has no locks two processes may do one trial at
// once: they write the same bits.
func hold(stem string) (release func(), err error) {
	path := stem + ".lock"
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

// holdOn waits for the lock if asked to. Who looks whether a trial is being run
// (holder) has the lock for a moment, so one refusal means little.
func holdOn(ctx context.Context, stem string, wait bool, waits func()) (release func(), err error) {
	const patience = 5
	for try := 1; ; try++ {
		release, err = hold(stem)
		if !errors.Is(err, errBusy) || !wait && try == patience {
			return release, err
		}
		pause := 20 * time.Millisecond
		if try == patience {
			waits()
		}
		if try > patience {
			pause = time.Second / 2
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(pause):
		}
	}
}

// holder tells who is at the trial, "" for no one.
func holder(stem string) string {
	f, err := os.Open(stem + ".lock")
	if err != nil {
		return ""
	}
	defer f.Close()
	if !errors.Is(lock(f, false), errBusy) {
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
