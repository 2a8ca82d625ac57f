package gpu

import (
	"encoding/binary"
	"errors"
	"runtime"
	"slices"
	"sync"
	"time"

	"utvi/internal/cuda"
)

// A gang runs trainings of the same shapes side by side: one launch makes a step of all
// of them. Each has its own memory, rows, learning rate, losses and failures, and blocks
// of the grid of its own, so its results are those it has alone.
//
// Trainings do not wait for one another longer than linger. Whoever comes while the gang
// runs waits, and the next run takes all that wait.
type gang struct {
	calls []launched // of a member; the others differ in their arguments

	mu      sync.Mutex
	members int
	busy    bool
	waiting []*request

	runs   []*request // under way
	tables tables
}

// A request is a training that wants to make steps.
type request struct {
	t     *trainer
	steps int
	err   error
	turn  chan bool // true: run the gang, false: the steps are done
}

// Beside implements engine.Crowd.
func (*Engine) Beside() int { return beside }

// beside is how many trainings run at a time: enough to keep a card busy, and few enough
// for its memory.
const beside = 32

// linger is how long a run waits for members that are still preparing their steps.
const linger = 300 * time.Microsecond

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
	t.request = &request{t: t, turn: make(chan bool, 1)}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, g := range e.gangs {
		if fits(g.calls, calls) {
			t.gang = g
		}
	}
	if t.gang == nil {
		t.gang = &gang{calls: calls}
		e.gangs = append(e.gangs, t.gang)
	}
	t.gang.mu.Lock()
	t.gang.members++
	t.gang.mu.Unlock()
	t.leave = sync.OnceFunc(e.leaver(t.gang))
	runtime.AddCleanup(t, func(leave func()) { leave() }, t.leave)
	return nil
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
			g.tables.release()
			e.gangs = slices.DeleteFunc(e.gangs, func(x *gang) bool { return x == g })
		}
	}
}

// run makes the steps of a training whose rows and numbers are ready, beside those of
// others, and returns how many were made.
func (g *gang) run(r *request) (int, error) {
	g.mu.Lock()
	g.waiting = append(g.waiting, r)
	lead := !g.busy
	g.busy = true
	g.mu.Unlock()
	if !lead {
		if r.t.batch.prepare(r.t); !<-r.turn {
			return r.steps, r.err
		}
	}
	g.gather()
	steps := g.runs[0].steps
	for _, x := range g.runs {
		steps = min(steps, x.steps)
	}
	err := g.execute(r, steps)
	for _, x := range g.runs {
		if x.steps, x.err = steps, err; x != r {
			x.turn <- false
		}
	}
	clear(g.runs) // a training that has ended can be freed
	g.mu.Lock()
	if g.busy = len(g.waiting) > 0; g.busy {
		g.waiting[0].turn <- true
	}
	g.mu.Unlock()
	return r.steps, r.err
}

// gather takes all that wait, after a while for the others.
func (g *gang) gather() {
	for waited := time.Duration(0); ; waited += linger / 3 {
		g.mu.Lock()
		if len(g.waiting) >= g.members || waited >= linger {
			g.runs = append(g.runs[:0], g.waiting...)
			clear(g.waiting)
			g.waiting = g.waiting[:0]
			g.mu.Unlock()
			return
		}
		g.mu.Unlock()
		time.Sleep(linger / 3)
	}
}

// execute makes steps of all members of a run, which r leads.
func (g *gang) execute(r *request, steps int) error {
	if len(g.runs) == 1 {
		return r.t.executeAlone(steps, true)
	}
	// The order of the members does not matter: the same ones need no new tables.
	slices.SortFunc(g.runs, func(a, b *request) int { return a.t.number - b.t.number })
	if err := g.tables.fill(g); errors.Is(err, cuda.ErrMemory) {
		return g.executeEach(steps)
	} else if err != nil {
		return err
	}
	s := g.tables.stream
	for _, x := range g.runs {
		if err := x.t.send(s, steps); err != nil {
			return err
		}
	}
	for range steps {
		for i := range g.calls {
			c := &g.calls[i]
			queue := cuda.LaunchBytes
			if c.behind {
				queue = cuda.LaunchBehind
			}
			if err := queue(s, c.kernel, c.side(len(g.runs)), c.threads, g.tables.args[i]); err != nil {
				return err
			}
		}
	}
	for _, x := range g.runs {
		if err := x.t.receive(s, steps); err != nil {
			return err
		}
	}
	r.t.batch.prepare(r.t) // the others do so while they wait
	return s.Sync()
}

// executeEach makes the steps of one member after the other.
func (g *gang) executeEach(steps int) error {
	for _, x := range g.runs {
		if err := x.t.executeAlone(steps, false); err != nil {
			return err
		}
	}
	return nil
}

// tables are the arguments of the kernels for all members of a run, on the card.
type tables struct {
	*memory
	members []int    // numbers of the members in the tables
	room    int      // for so many
	args    [][]byte // of each call: they point to its table
	host    []byte
	at      []cuda.Ptr
}

func (t *tables) release() {
	if t.memory != nil {
		t.memory.release()
		*t = tables{}
	}
}

// fill writes the tables of a run, unless they are there.
func (t *tables) fill(g *gang) error {
	if t.same(g.runs) {
		return nil
	}
	if t.room < len(g.runs) {
		if err := t.grow(g); err != nil {
			return err
		}
	}
	t.members = t.members[:0]
	for _, x := range g.runs {
		t.members = append(t.members, x.t.number)
	}
	for i := range g.calls {
		t.host = t.host[:0]
		for _, x := range g.runs {
			t.host = append(t.host, x.t.calls[i].args...)
		}
		if err := cuda.Upload(t.stream, t.at[i], t.host); err != nil {
			return err
		}
		if err := t.stream.Sync(); err != nil {
			return err
		}
	}
	return nil
}

func (t *tables) same(runs []*request) bool {
	if len(t.members) != len(runs) {
		return false
	}
	for i, x := range runs {
		if t.members[i] != x.t.number {
			return false
		}
	}
	return true
}

// grow makes room for the members of a run, and for some more.
func (t *tables) grow(g *gang) error {
	d := g.runs[0].t.device
	t.release()
	m, err := newMemory(d)
	if err != nil {
		return err
	}
	t.memory, t.room = m, max(g.members, len(g.runs))
	for i := range g.calls {
		one := len(g.calls[i].args)
		p := m.alloc(t.room, one)
		args := make([]byte, one+8)
		binary.LittleEndian.PutUint64(args[one:], uint64(p))
		t.at, t.args = append(t.at, p), append(t.args, args)
	}
	if m.err != nil {
		err := m.err
		t.release()
		return err
	}
	return nil
}
