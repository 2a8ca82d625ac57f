package fit

// A thin keeps some of a stream's items, evenly spaced: all of them up to most, then
// every second, every fourth … Which ones depends on their number alone.
type thin[T any] struct {
	most  int
	items []T
	every int // 0 stands for 1
	seen  int
}

// next reports whether the next item is to be kept, and counts it.
func (t *thin[T]) next() bool {
	t.every = max(t.every, 1)
	keep := t.seen%t.every == 0
	t.seen++
	return keep
}

// keep adds an item that next asked for.
func (t *thin[T]) keep(x T) {
	t.items = append(t.items, x)
	if len(t.items) <= t.most {
		return
	}
	n := 0
	for i := 0; i < len(t.items); i += 2 {
		t.items[n] = t.items[i]
		n++
	}
	clear(t.items[n:])
	t.items = t.items[:n]
	t.every *= 2
}
