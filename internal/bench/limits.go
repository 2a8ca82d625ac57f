package bench

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"utvi/internal/compute"
	"utvi/internal/compute/kernel"
	"utvi/internal/compute/product"
)

// MaxThreads is the largest number of threads that can be asked for.
const MaxThreads = 1024

// A Limit is what so many threads can do together at most.
type Limit struct {
	Threads   int     `json:"threads"`
	GFLOPS    float64 `json:"gflops"`
	Bandwidth float64 `json:"memory_gb_per_second"` // reading
}

// threads are those asked for, or 1, 2, 4, … and all.
func threads(asked []int) []int {
	if len(asked) > 0 {
		return asked
	}
	all := runtime.GOMAXPROCS(0)
	var list []int
	for n := 1; n < all; n *= 2 {
		list = append(list, n)
	}
	return append(list, all)
}

// limits lists the measurements of the machine; their results go to r.
func limits(r *Report, threads []int, m *memory) []timing {
	var todo []timing
	for _, n := range threads {
		todo = append(todo, timing{fmt.Sprintf("limits of %d threads", n), func(_ context.Context, windows int, window time.Duration) error {
			pool := compute.NewPool(n)
			defer pool.Close()
			l := Limit{Threads: n}
			for range windows {
				l.GFLOPS = max(l.GFLOPS, peak(pool, window))
				l.Bandwidth = max(l.Bandwidth, m.read(pool, window))
			}
			r.Limits = append(r.Limits, l)
			return nil
		}})
	}
	return todo
}

// peak is the FMA peak of all workers of a pool at the same time.
func peak(pool *compute.Pool, d time.Duration) float64 {
	rates := make([]float64, pool.Workers())
	pool.Run(len(rates), func(_, task int) { rates[task] = product.PeakGFLOPS(d) })
	var sum float64
	for _, r := range rates {
		sum += r
	}
	return sum
}

// memory is a stretch of it that no cache holds.
type memory struct {
	l2   int
	size int       // in bytes
	data []float32 // allocated when it is first read
	next int       // where the next pass begins
}

func newMemory(c compute.Caches) *memory {
	return &memory{l2: c.L2, size: min(max(3*c.L3, 256<<20), 1<<30)}
}

// read returns the rate in GB/s at which the workers of a pool read it, each a part of
// its own: the best of passes over parts of it that fit into d.
func (m *memory) read(pool *compute.Pool, d time.Duration) float64 {
	if m.data == nil {
		m.data = make([]float32, m.size/4)
		for i := range m.data {
			m.data[i] = 1
		}
	}
	// Small tasks: a core that has other work to do delays the others little. Short
	// passes: the best of many is not disturbed.
	const task = 1 << 15
	tasks := min(max(len(m.data)/task/16, 4*pool.Workers()), len(m.data)/task)
	best := 0.0
	for begin := time.Now(); ; {
		if m.next+tasks*task > len(m.data) {
			m.next = 0
		}
		from := m.data[m.next:]
		m.next += tasks * task
		t := time.Now()
		pool.Run(tasks, func(_, i int) { kernel.AllFinite(from[i*task:][:task]) })
		best = max(best, float64(4*task*tasks)/float64(time.Since(t).Nanoseconds()))
		if time.Since(begin) >= d {
			return best
		}
	}
}

// measureMemory returns the median over windows of the time of f over the time in which
// bytes are read, the two alternating.
func measureMemory(windows int, window time.Duration, bytes float64, pool *compute.Pool, m *memory, f func()) float64 {
	var ratios []float64
	for range windows {
		rate := m.read(pool, window/4)
		best := time.Duration(1 << 62)
		for begin := time.Now(); time.Since(begin) < window; {
			t := time.Now()
			f()
			best = min(best, time.Since(t))
		}
		rate = max(rate, m.read(pool, window/4))
		ratios = append(ratios, best.Seconds()*rate*1e9/bytes)
	}
	return median(ratios)
}
