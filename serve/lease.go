package serve

import "sync/atomic"

// memory is how many bytes requests in progress may still take.
type memory struct{ left atomic.Int64 }

// A lease is what one request has taken. It belongs to one goroutine.
type lease struct {
	of    *memory
	taken int64
}

// take takes n bytes. It fails if others have taken too many.
func (l *lease) take(n int64) error {
	if l.of.left.Add(-n) < 0 {
		l.of.left.Add(n)
		return failf(busy, "the server is busy: the requests in progress take all memory it may use; try again soon")
	}
	l.taken += n
	return nil
}

// release gives everything back.
func (l *lease) release() {
	l.of.left.Add(l.taken)
	l.taken = 0
}
