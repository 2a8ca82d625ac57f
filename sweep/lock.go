package sweep

import (
	"context"
	"errors"
	"time"

	"utvi/internal/filelock"
)

// lockPath is the lock of the trial whose files begin with stem. Where a file
// system has no locks two processes may do one trial at once: they write the same
// bits.
func lockPath(stem string) string { return stem + ".lock" }

// holdOn waits for the lock if asked to. Who looks whether a trial is being run
// (filelock.Holder) has the lock for a moment, so one refusal means little.
func holdOn(ctx context.Context, stem string, wait bool, waits func()) (release func(), err error) {
	const patience = 5
	for try := 1; ; try++ {
		release, err = filelock.Hold(lockPath(stem))
		if !errors.Is(err, filelock.ErrBusy) || !wait && try == patience {
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
