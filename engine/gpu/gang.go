package gpu

import (
	"math"
	"runtime"
	"slices"
	"sync"
	"time"
)

// A gang runs trainings of the same shapes side by side: one launch makes a step of several
// of them, a party. Each has its own memory, rows, learning rate, losses and failures, and
// blocks of the grid of its own, so its results are those it has alone.
//
// Whoever wants to make steps waits for a party that is free, and leads it: it takes those that wait
// too, but does not wait for others longer than linger. While the host prepares the steps of
// one party, the card works for another, on the multiprocessors that the kernels of the one leave idle.
type gang struct {
	calls []launched // of a member; the others differ in their arguments
	lanes int        // parties that run at a time
	most  int        // members of a party

	mu        sync.Mutex
	members   int
	waiting   []*request
	gathering bool     // the first of them leads a party
	idle      []*party // that nobody leads
	parties   []*party

	full  chan struct{} // enough wait for a party
	timer *time.Timer
}

// A request is a training that wants to make steps.
type request struct {
	t     *trainer
	steps int
	err   error
	turn  chan *party // that it shall lead; nil: its steps are done
}

// beside is how many trainings run at a time: enough to keep a card busy, and few enough
// for its memory.
const beside = 32

// linger is how long a party waits for members that are still preparing their steps.
const linger = 300 * time.Microsecond

// crowdLanes is how many parties of a crowd run at a time, crowdParty how many members a party has at
// most: the best that were tried with a hundred trainings on an H200.
var crowdLanes, crowdParty = 6, 17

// next returns the number of a new training.
func (e *Engine) next() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.trainers++
	return e.trainers
}

// join adds a training to the gang of its shapes.
func (e *Engine) join(t *trainer) error {
	calls, err := t.recorded(true)
	if err != nil {
		return err
	}
	t.calls = calls
	t.request = &request{t: t, turn: make(chan *party, 1)}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, g := range e.gangs {
		if fits(g.calls, calls) {
			t.gang = g
		}
	}
	if t.gang == nil {
		t.gang = newGang(t)
		e.gangs = append(e.gangs, t.gang)
	}
	t.gang.mu.Lock()
	t.gang.members++
	t.gang.mu.Unlock()
	t.leave = sync.OnceFunc(e.leaver(t.gang))
	runtime.AddCleanup(t, func(leave func()) { leave() }, t.leave)
	return nil
}

// newGang returns a gang without members, for trainings such as t.
func newGang(t *trainer) *gang {
	g := &gang{calls: t.calls, lanes: 1, most: math.MaxInt, full: make(chan struct{}, 1), timer: time.NewTimer(linger)}
	if g.timer.Stop(); t.counted {
		g.lanes, g.most = crowdLanes, crowdParty
	}
	for range g.lanes {
		p := &party{gang: g}
		g.idle, g.parties = append(g.idle, p), append(g.parties, p)
	}
	return g
}

// recorded returns the calls of a step, of a network alone or side by side with others.
func (t *trainer) recorded(crowded bool) (calls []launched, err error) {
	w := t.weights
	w.record, w.crowded = &calls, crowded
	err = t.queueWhole()
	w.record, w.crowded = nil, false
	return calls, err
}

// leaver returns a function that removes a training which has ended from its gang. The
// last one frees the memory of the gang.
func (e *Engine) leaver(g *gang) func() {
	return func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.members--; g.members == 0 {
			for _, p := range g.parties {
				p.release()
			}
			e.gangs = slices.DeleteFunc(e.gangs, func(x *gang) bool { return x == g })
		}
	}
}

// run makes the steps of a training whose rows and numbers are ready, beside those of
// others, and returns how many were made.
func (g *gang) run(r *request) (int, error) {
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

// enough reports whether as many wait as a party takes: all parties are of the same size.
func (g *gang) enough() bool { return len(g.waiting) >= g.size() }
func (g *gang) size() int    { return min(g.most, tiles(g.members, g.lanes)) }

// lead returns a party for the first of those that wait; nil: none is free, or the first one leads
// already.
func (g *gang) lead() *party {
	n := len(g.idle)
	if g.gathering || n == 0 {
		return nil
	}
	p := g.idle[n-1]
	g.idle, g.gathering = g.idle[:n-1], true
	return p
}

// call has the first of those that wait lead a party, if one is free.
func (g *gang) call() {
	if len(g.waiting) > 0 {
		if p := g.lead(); p != nil {
			g.waiting[0].turn <- p
		}
	}
}

// gather takes those that wait into a party, after a while for others.
func (g *gang) gather(p *party) {
	g.timer.Reset(linger)
	for late := false; ; {
		g.mu.Lock()
		if n := min(g.size(), len(g.waiting)); g.enough() || late {
			p.runs = append(p.runs[:0], g.waiting[:n]...)
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
		case <-g.full: // or it was said of an earlier party
		case <-g.timer.C:
			late = true
		}
	}
}
