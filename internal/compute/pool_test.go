package compute

import (
	"errors"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestPool(t *testing.T) {
	for _, workers := range []int{1, 2, 3, 7} {
		p := NewPool(workers)
		if p.Workers() != workers {
			t.Errorf("Workers() = %d, want %d", p.Workers(), workers)
		}
		for run := range 300 {
			tasks := run % 23
			counts := make([]int, tasks) // plain: the race detector watches
			busy := make([]atomic.Bool, workers)
			p.Run(tasks, func(worker, task int) {
				if busy[worker].Swap(true) {
					t.Errorf("worker %d has two tasks at a time", worker)
				}
				counts[task]++
				busy[worker].Store(false)
			})
			for task, n := range counts {
				if n != 1 {
					t.Fatalf("%d workers, %d tasks: task %d ran %d times", workers, tasks, task, n)
				}
			}
		}
		p.Close()
		p.Close()
		sum := 0
		p.Run(5, func(_, task int) { sum += task })
		if sum != 10 {
			t.Errorf("after Close, tasks sum to %d", sum)
		}
	}
}

// All workers take part, also those that had gone to sleep.
func TestPoolWakes(t *testing.T) {
	const workers = 3
	p := NewPool(workers)
	defer p.Close()
	parked(t, p)
	var arrived sync.WaitGroup
	arrived.Add(workers)
	p.Run(workers, func(_, _ int) {
		arrived.Done()
		arrived.Wait() // each task waits for all: one worker alone would hang
	})
	parked(t, p)
}

// parked waits until every worker but the caller sleeps.
func parked(t *testing.T, p *Pool) {
	t.Helper()
	for range 100_000 { // more than any machine takes that has not hung
		if int(p.parked.Load()) == p.Workers()-1 {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatal("idle workers do not park")
}

// The caller parks too while others are at long tasks, and is woken.
func TestPoolLongTasks(t *testing.T) {
	p := NewPool(2)
	defer p.Close()
	var begun sync.WaitGroup
	begun.Add(2)
	p.Run(2, func(worker, _ int) {
		begun.Done()
		begun.Wait()
		if worker != 0 {
			time.Sleep(50 * time.Millisecond)
		}
	})
}

func TestPoolSeveralCallers(t *testing.T) {
	p := NewPool(3)
	defer p.Close()
	var total atomic.Int64
	var callers sync.WaitGroup
	for range 4 {
		callers.Go(func() {
			for range 50 {
				p.Run(7, func(_, task int) { total.Add(int64(task)) })
			}
		})
	}
	callers.Wait()
	if total.Load() != 4*50*21 {
		t.Errorf("tasks sum to %d", total.Load())
	}
}

func TestPoolPanic(t *testing.T) {
	p := NewPool(3)
	defer p.Close()
	boom := errors.New("boom")
	for guilty := range 2 { // the caller; another worker
		func() {
			var all sync.WaitGroup
			all.Add(3)
			defer func() {
				v := recover()
				if e, ok := v.(*TaskPanic); ok && guilty == 1 {
					if !strings.Contains(e.Error(), "TestPoolPanic") {
						t.Errorf("no trace of the task in %v", e)
					}
					v = e.Value
				}
				if v != boom {
					t.Errorf("recovered %v", v)
				}
			}()
			p.Run(3, func(worker, _ int) {
				all.Done()
				all.Wait() // so that each worker has a task
				if min(worker, 1) == guilty {
					panic(boom)
				}
			})
			t.Error("Run returned")
		}()
		done := 0
		p.Run(1, func(_, _ int) { done++ })
		var sum atomic.Int64
		p.Run(9, func(_, task int) { sum.Add(int64(task)) })
		if done != 1 || sum.Load() != 36 {
			t.Error("the pool is of no use after a panic")
		}
	}
}

func TestPoolAllocations(t *testing.T) {
	p := NewPool(3)
	defer p.Close()
	var n atomic.Int64
	f := func(_, _ int) { n.Add(1) }
	if a := testing.AllocsPerRun(200, func() { p.Run(5, f) }); a != 0 {
		t.Errorf("%v allocations per Run", a)
	}
}

// A pool that is forgotten, not closed, leaves no goroutines behind.
func TestPoolForgotten(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 3 {
		NewPool(4).Run(8, func(_, _ int) {})
	}
	for range 50_000 { // more than any machine takes that has not hung
		runtime.GC()
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
}

func BenchmarkPoolRun(b *testing.B) {
	p := NewPool(runtime.GOMAXPROCS(0))
	defer p.Close()
	f := func(_, _ int) {}
	for b.Loop() {
		p.Run(p.Workers(), f)
	}
}
