package serve

import (
	"context"
	"sync/atomic"
	"time"
)

// memory is the account of what requests in progress may still take. Bytes are taken from
// it before they are allocated, and given back when nothing refers to them any more.
type memory struct {
	all  int64 // that may be taken
	left atomic.Int64
}

func (m *memory) open(bytes int64) {
	m.all = bytes
	m.left.Store(bytes)
}

// A lease is what one request has taken. It belongs to one goroutine.
type lease struct {
	of    *memory
	who   *client // whose share it counts against; nil: nobody's
	taken int64

	largest int64 // of what is taken for one image after another
}

// take takes n bytes. It fails if the request is too large for the server, or if others
// have taken too many.
func (l *lease) take(n int64) error {
	most := l.of.all
	if l.who != nil {
		most = l.who.mostMemory()
	}
	if n < 0 || n > most-l.taken {
		return failf(tooLarge, "the request needs more memory than the %d bytes that the server has for one client; send fewer rows at a time", most)
	}
	if !l.who.takeMemory(n) {
		return failf(busy, "this client's requests in progress take all memory that one client may use; try again soon")
	}
	if l.of.left.Add(-n) < 0 {
		l.of.left.Add(n)
		l.who.giveMemory(n)
		return failf(busy, "the server is busy: the requests in progress take all memory it may use; try again soon")
	}
	l.taken += n
	return nil
}

// takeLargest takes n bytes for something that is read when the one before it is done with.
func (l *lease) takeLargest(n int64) error {
	if n <= l.largest {
		return nil
	}
	if err := l.take(n - l.largest); err != nil {
		return err
	}
	l.largest = n
	return nil
}

// patience is how long a request waits for memory that others hold for moments only.
const patience = 500 * time.Millisecond

// takeSoon takes n bytes, and waits a little for them if others have them.
func (l *lease) takeSoon(ctx context.Context, n int64) error {
	end := time.Now().Add(patience)
	for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		err := l.take(n)
		if err == nil || faultOf(err).kind != busy || time.Now().After(end) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

// give gives n bytes back.
func (l *lease) give(n int64) {
	l.taken -= n
	l.of.left.Add(n)
	l.who.giveMemory(n)
}

// release gives everything back.
func (l *lease) release() { l.give(l.taken) }
