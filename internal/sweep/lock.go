package sweep

import (
	"context"
	"errors"
	"time"

	"utvi/internal/filelock"
)

// lockPath is the lock of the trial whose files begin with stem. On a file system
// without locks two processes may run one trial at once: they write the same bits.
func lockPath(stem string) string { return stem + ".lock" }

// holdOn takes the lock; with wait it waits until the lock is free. A process that
// asks who runs a trial (filelock.Holder) holds the lock for a moment, so a single
// refusal means little.
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
