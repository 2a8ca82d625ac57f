package gpu

import (
	"math"
	"runtime"
	"slices"
	"sync"
	"time"
)

// A trainGroup runs trainings of the same shapes side by side: one launch makes a step of several
// of them, a run. Each has its own memory, rows, learning rate, losses and failures, and
// blocks of the grid of its own, so its results are those it has alone.
//
// Whoever wants to make steps waits for a run that is free, and leads it: it takes those that wait
// too, but does not wait for others longer than linger. While the host prepares the steps of
// one run, the card works for another, on the multiprocessors that the kernels of the one leave idle.
type trainGroup struct {
	calls  []launched // of a member; the others differ in their arguments
	atOnce int        // runs that run at a time
	most   int        // members of a run

	mu        sync.Mutex
	members   int
	waiting   []*request
	gathering bool        // the first of them leads a run
	idle      []*groupRun // that nobody leads
	runs      []*groupRun

	full  chan struct{} // enough wait for a run
	timer *time.Timer
}

// A request is a training that wants to make steps.
type request struct {
	t     *trainer
	steps int
	err   error
	turn  chan *groupRun // that it shall lead; nil: its steps are done
}

// beside is how many trainings run at a time: enough to keep a card busy, and few enough
// for its memory.
const beside = 32

// linger is how long a run waits for members that are still preparing their steps.
const linger = 300 * time.Microsecond

// groupRuns is how many runs of a group are under way at a time where many train, mostOfRun how many members a run has at
// most: the best that were tried with a hundred trainings on an H200.
var groupRuns, mostOfRun = 6, 17

// next returns the number of a new training.
func (e *Engine) next() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.trainers++
	return e.trainers
}

// join adds a training to the group of its shapes.
func (e *Engine) join(t *trainer) error {
	calls, err := t.recorded(true)
	if err != nil {
		return err
	}
	t.calls = calls
	t.request = &request{t: t, turn: make(chan *groupRun, 1)}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, g := range e.groups {
		if fits(g.calls, calls) {
			t.group = g
		}
	}
	if t.group == nil {
		t.group = newTrainGroup(t)
		e.groups = append(e.groups, t.group)
	}
	t.group.mu.Lock()
	t.group.members++
	t.group.mu.Unlock()
	t.leave = sync.OnceFunc(e.leaver(t.group))
	runtime.AddCleanup(t, func(leave func()) { leave() }, t.leave)
	return nil
}

// newTrainGroup returns a group without members, for trainings such as t.
func newTrainGroup(t *trainer) *trainGroup {
	g := &trainGroup{calls: t.calls, atOnce: 1, most: math.MaxInt, full: make(chan struct{}, 1), timer: time.NewTimer(linger)}
	g.timer.Stop()
	if t.Beside >= manyFrom {
		g.atOnce, g.most = groupRuns, mostOfRun
	}
	for range g.atOnce {
		p := &groupRun{group: g}
		g.idle, g.runs = append(g.idle, p), append(g.runs, p)
	}
	return g
}

// recorded returns the calls of a step, of a network alone or side by side with others.
func (t *trainer) recorded(sideBySide bool) (calls []launched, err error) {
	w := t.weights
	w.record, w.sideBySide = &calls, sideBySide
	err = t.queueWhole()
	w.record, w.sideBySide = nil, false
	return calls, err
}

// leaver returns a function that removes a training which has ended from its group. The
// last one frees the memory of the group.
func (e *Engine) leaver(g *trainGroup) func() {
	return func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.members--; g.members == 0 {
			for _, p := range g.runs {
				p.release()
			}
			e.groups = slices.DeleteFunc(e.groups, func(x *trainGroup) bool { return x == g })
		}
	}
}

// run makes the steps of a training whose rows and numbers are ready, beside those of
// others, and returns how many were made.
func (g *trainGroup) run(r *request) (int, error) {
	g.mu.Lock()
	g.waiting = append(g.waiting, r)
	p := g.lead()
	if p == nil && g.enough() {
		select {
		case g.full <- struct{}{}:
		default: // nobody has taken the last word
		}
	}
	g.mu.Unlock()
	if p == nil {
		r.t.batch.prepare(r.t)
		p = <-r.turn
		if p == nil {
			return r.steps, r.err
		}
	}
	g.gather(p)
	p.run(r)
	g.mu.Lock()
	g.idle = append(g.idle, p)
	g.call()
	g.mu.Unlock()
	return r.steps, r.err
}

// enough reports whether as many wait as a run takes: all runs are of the same size.
func (g *trainGroup) enough() bool { return len(g.waiting) >= g.size() }
func (g *trainGroup) size() int    { return min(g.most, tiles(g.members, g.atOnce)) }

// lead returns a run for the first of those that wait; nil: none is free, or the first one leads
// already.
func (g *trainGroup) lead() *groupRun {
	n := len(g.idle)
	if g.gathering || n == 0 {
		return nil
	}
	p := g.idle[n-1]
	g.idle, g.gathering = g.idle[:n-1], true
	return p
}

// call has the first of those that wait lead a run, if one is free.
func (g *trainGroup) call() {
	if len(g.waiting) > 0 {
		if p := g.lead(); p != nil {
			g.waiting[0].turn <- p
		}
	}
}

// gather takes those that wait into a run, after a while for others.
func (g *trainGroup) gather(p *groupRun) {
	g.timer.Reset(linger)
	for late := false; ; {
		g.mu.Lock()
		if n := min(g.size(), len(g.waiting)); g.enough() || late {
			p.requests = append(p.requests[:0], g.waiting[:n]...)
			left := copy(g.waiting, g.waiting[n:])
			clear(g.waiting[left:])
			g.waiting, g.gathering = g.waiting[:left], false
			g.timer.Stop()
			g.call()
			g.mu.Unlock()
			return
		}
		g.mu.Unlock()
		select {
		case <-g.full: // or it was said of an earlier run
		case <-g.timer.C:
			late = true
		}
	}
}
