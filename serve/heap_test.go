package serve_test

import (
	"io"
	"log/slog"
	"math"
	"runtime/debug"
	"testing"

	"utvi/serve"
)

// The runtime is told what the server may take: the requests' memory, what the models use, and
// a part of what is stated beside them.
func TestLimitHeap(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(before)
	debug.SetMemoryLimit(math.MaxInt64)
	s, err := serve.New(serve.Config{Models: sources(), Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		t.Fatal(err)
	}
	limit := s.LimitHeap()
	if got := debug.SetMemoryLimit(-1); got != limit {
		t.Errorf("the runtime's limit is %d, not %d", got, limit)
	}
	if memory := s.Limits.Memory; limit <= memory || limit >= math.MaxInt64/2 {
		t.Errorf("the limit is %d beside %d of requests", limit, memory)
	}
}
