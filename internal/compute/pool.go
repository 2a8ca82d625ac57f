package compute

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
)

// Pool shares tasks among a fixed set of workers. The caller of Run is worker 0;
// the others wait in goroutines of their own, spinning for a fraction of a
// millisecond, so that runs in quick succession start at once, then parked.
type Pool struct{ *crew }

// NewPool returns a pool of the given number of workers, the caller included.
// Its goroutines end with Close, or after the pool has become unreachable.
func NewPool(workers int) *Pool {
	c := &crew{workers: max(1, workers)}
	c.wake.L, c.idle.L = &c.mu, &c.mu
	for w := 1; w < c.workers; w++ {
		c.gone.Go(func() { c.serve(w) })
	}
	p := &Pool{c}
	runtime.AddCleanup(p, (*crew).stop, c)
	return p
}

// Workers returns n, or GOMAXPROCS for n < 1: the default number of workers everywhere.
func Workers(n int) int {
	if n < 1 {
		return runtime.GOMAXPROCS(0)
	}
	return n
}

// Workers is the number of workers: Run passes worker < Workers().
func (p *Pool) Workers() int { return p.workers }

// Close ends the workers' goroutines. A Run that follows is done by its caller
// alone.
func (p *Pool) Close() {
	p.stop()
	p.gone.Wait()
}

// Run calls f(worker, task) once for each task < tasks and returns when all are
// done. Tasks are begun in order by whoever is free; no two calls at a time
// have the same worker, so that it may index scratch memory. Run allocates
// nothing if f is a stored function value.
//
// Runs of several goroutines take turns; a task must not Run on its own pool.
// If a task panics, tasks not yet begun are dropped and Run panics: with the
// task's own value if the caller ran it, with a *TaskPanic otherwise.
func (p *Pool) Run(tasks int, f func(worker, task int)) {
	if tasks <= 1 || p.workers == 1 {
		for t := range tasks {
			f(0, t)
		}
		return
	}
	p.turn.Lock()
	defer p.turn.Unlock()
	p.f = f
	p.tasks = int64(tasks)
	p.failure = nil
	p.next.Store(0)
	p.open(tasks - 1)
	p.lead()
	if p.failure != nil {
		panic(p.failure)
	}
}

// lead is the caller's part. Even if its own task panics, memory the tasks use
// must not be left before every worker has left it.
func (p *Pool) lead() {
	defer p.settle()
	p.work(0)
}

// TaskPanic is what Run panics with if a task panicked in another goroutine.
type TaskPanic struct {
	Value any
	Stack []byte // of that goroutine
}

func (e *TaskPanic) Error() string {
	return fmt.Sprintf("compute: task panicked: %v\n\n%s", e.Value, e.Stack)
}

// crew is what the goroutines see of a pool; it does not keep the Pool alive.
type crew struct {
	workers int
	turn    sync.Mutex // one Run at a time

	f       func(worker, task int)
	tasks   int64
	failure *TaskPanic // under mu

	mu         sync.Mutex
	wake, idle sync.Cond // workers wait for a run; the caller waits for workers
	parked     atomic.Int32
	waiting    atomic.Bool
	stopped    atomic.Bool
	gone       sync.WaitGroup

	_     [64]byte // what everyone writes has cache lines of its own
	state atomic.Uint64
	_     [56]byte
	next  atomic.Int64
	_     [56]byte
}

// work takes tasks until none is left.
func (c *crew) work(worker int) {
	for t := c.next.Add(1) - 1; t < c.tasks; t = c.next.Add(1) - 1 {
		c.f(worker, int(t))
	}
}
