package compute

import (
	"sync"
	"unsafe"

	"utvi/internal/compute/internal/cpu"
)

// Large pages are hugePage bytes long. Arrays of hugeFrom bytes begin at one; those of
// sharedFrom bytes share some.
const hugePage, hugeFrom, sharedFrom = 2 << 20, 1 << 20, 16 << 10

// Make returns n zeros for weights, their moments, activations or tapes. All but small ones lie
// in large pages, where the system has them: in a step, a dozen arrays are read side by side, and
// small pages cost a look-up every few lines. The arrays of a small network lie together, so that
// they take equally many lines of every set of a cache; small pages are scattered.
func Make[T Float](n int) []T {
	size := n * int(unsafe.Sizeof(T(0)))
	if size < sharedFrom {
		return make([]T, n)
	}
	if size < hugeFrom {
		if cpu.Is32[T]() {
			return any(shared32.take(n)).([]T)
		}
		return any(shared64.take(n)).([]T)
	}
	return makeHuge[T](n)[:n:n]
}

// makeHuge returns at least n zeros, which begin at a large page and fill the last one.
func makeHuge[T Float](n int) []T {
	size := int(unsafe.Sizeof(T(0)))
	page := hugePage / size
	whole := (n + page - 1) / page * page
	x := make([]T, whole+page)
	skip := int(-uintptr(unsafe.Pointer(&x[0]))%hugePage) / size
	x = x[skip:][:whole:whole]
	adviseHuge(unsafe.Slice((*byte)(unsafe.Pointer(&x[0])), whole*size))
	return x
}

// A sharer cuts large pages into arrays. Memory is free again when no array of a page is in use.
type sharer[T Float] struct {
	mu   sync.Mutex
	rest []T // of the last page
}

var (
	shared32 sharer[float32]
	shared64 sharer[float64]
)

// take returns an array that begins at a cache line. Equal arrays do not lie a multiple of 4 KiB
// apart, or a load from one would wait for a store to the same place of another.
func (s *sharer[T]) take(n int) []T {
	const line = 64
	per := line / int(unsafe.Sizeof(T(0)))
	room := ((n+per-1)/per + 5) * per
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.rest) < room {
		s.rest = makeHuge[T](1)
	}
	x := s.rest[:n:n]
	s.rest = s.rest[room:]
	return x
}
