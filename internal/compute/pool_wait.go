package compute

import (
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"utvi/internal/compute/internal/cpu"
)

// A crew's state counts runs in its upper half. Below, one bit says that the
// run may be joined, the rest counts the workers in it. Only workers that have
// joined are waited for: one that sleeps through a short run delays nobody.
const (
	runUnit  = 1 << 32
	openBit  = 1 << 31
	joinMask = openBit - 1
)

// A waiting goroutine looks until nobody has worked for idleTime, or for spinTime at most,
// before it parks: as long as others are at work, the next run is near, and to wake a
// goroutine can take a millisecond. After each yieldEvery it lets other goroutines and
// threads have the processor, as there may be more of them than cores. Sixteen workers
// that yielded more often would wait for the scheduler's lock, and miss the next run.
const (
	idleTime   = 500 * time.Microsecond
	spinTime   = 20 * time.Millisecond
	yieldEvery = 20 * time.Microsecond
	looks      = 32 // between two at the clock
)

// open begins a run and wakes as many of the parked workers as it can use.
func (c *crew) open(wanted int) {
	c.state.Store(c.state.Load()&^(runUnit-1) + runUnit | openBit)
	if parked := int(c.parked.Load()); parked > 0 {
		c.mu.Lock()
		for range min(wanted, parked) {
			c.wake.Signal()
		}
		c.mu.Unlock()
	}
}

// settle ends the run: nobody may join any more, and those who have joined
// finish.
func (c *crew) settle() {
	c.next.Store(c.tasks) // nothing to take, also after a panic
	c.state.And(^uint64(openBit))
	done := func() bool { return c.state.Load()&joinMask == 0 }
	for !c.spin(done) {
		c.waiting.Store(true)
		c.park(&c.idle, done)
		c.waiting.Store(false)
	}
	c.f = nil
}

// serve is the life of a worker's goroutine.
func (c *crew) serve(worker int) {
	var last uint64 // the run joined last
	ready := func() bool {
		s := c.state.Load()
		return s&openBit != 0 && s/runUnit != last || c.stopped.Load()
	}
	for {
		if !c.spin(ready) {
			c.parked.Add(1)
			c.park(&c.wake, ready)
			c.parked.Add(-1)
		}
		if c.stopped.Load() {
			return
		}
		s := c.state.Load()
		if s&openBit != 0 && s/runUnit != last && c.state.CompareAndSwap(s, s+1) {
			last = s / runUnit
			c.join(worker)
		}
	}
}

// join takes part in a run. A panic is kept for the caller.
func (c *crew) join(worker int) {
	defer func() {
		if v := recover(); v != nil {
			c.mu.Lock()
			if c.failure == nil {
				c.failure = &TaskPanic{v, debug.Stack()}
			}
			c.mu.Unlock()
			c.next.Store(c.tasks)
		}
		// The last to leave wakes the caller, if it sleeps.
		if s := c.state.Add(^uint64(0)); s&(openBit|joinMask) == 0 && c.waiting.Load() {
			c.mu.Lock()
			c.idle.Signal()
			c.mu.Unlock()
		}
	}()
	c.work(worker)
}

func (c *crew) stop() {
	c.stopped.Store(true)
	c.mu.Lock()
	c.wake.Broadcast()
	c.mu.Unlock()
}

// park sleeps unless ready; whoever makes it ready signals under mu. One who
// wakes too late for a run goes back to spinning: the next one may be near.
func (c *crew) park(on *sync.Cond, ready func() bool) {
	c.mu.Lock()
	if !ready() {
		on.Wait()
	}
	c.mu.Unlock()
}

// spin waits a while for ready and tells whether it came true.
func (c *crew) spin(ready func() bool) bool {
	var begin, busy, yielded time.Time
	for {
		for range looks {
			if ready() {
				return true
			}
			cpu.Pause()
		}
		now := time.Now()
		if begin.IsZero() {
			begin = now
			busy = now
			yielded = now
		}
		if c.state.Load()&(openBit|joinMask) != 0 {
			busy = now
		}
		if now.Sub(busy) > idleTime || now.Sub(begin) > spinTime {
			return false
		}
		if now.Sub(yielded) > yieldEvery {
			runtime.Gosched()
			yieldCPU()
			yielded = now
		}
	}
}
