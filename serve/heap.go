package serve

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"

	allowed "utvi/internal/memory"
)

// Overhead is what the process of a server takes at most beside Limits.Memory and beyond
// the models: the program itself, its runtime, garbage that is not collected yet, and what
// strangers make it do before they are refused.
const Overhead = 200 << 20

// garbage is the part of Overhead that the heap may have beyond what was in use when the
// models were loaded, so that the collector has something to collect.
const garbage = 48 << 20

// LimitHeap tells the Go runtime to stay within Limits.Memory, the models and a part of
// Overhead, and within what a control group leaves. It is for programs that do nothing but serve, and returns the limit.
func (s *Server) LimitHeap() int64 {
	runtime.GC()
	sample := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}, {Name: "/memory/classes/heap/free:bytes"}}
	metrics.Read(sample)
	used := int64(sample[0].Value.Uint64() - sample[1].Value.Uint64() - sample[2].Value.Uint64())
	limit := int64(min(float64(used+s.Limits.Memory+garbage), allowed.Ceiling()))
	debug.SetMemoryLimit(limit)
	s.limited.Store(true)
	return limit
}
