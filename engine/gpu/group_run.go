package gpu

import (
	"encoding/binary"
	"errors"

	"utvi/internal/cuda"
)

// A groupRun is some members of a group that make steps side by side, with the arguments of their
// kernels on the card.
type groupRun struct {
	group    *trainGroup
	requests []*request // under way

	*memory            // nil until two run
	room      int      // for so many
	args      [][]byte // of each call: they point to its table
	host      []byte   // pinned: the tables, one behind the other
	tables    cuda.Ptr
	transfers []stepTransfer // pinned
	list      cuda.Ptr       // the transfers
}

func (p *groupRun) release() {
	if p.memory != nil {
		p.memory.release()
		*p = groupRun{group: p.group, requests: p.requests}
	}
}

// run makes as many steps of all members as the one wants that wants fewest; r leads them.
func (p *groupRun) run(r *request) {
	steps := r.steps
	for _, x := range p.requests {
		steps = min(steps, x.steps)
	}
	err := p.execute(r, steps)
	for _, x := range p.requests {
		x.steps, x.err = steps, err
		if x != r {
			x.turn <- nil
		}
	}
	clear(p.requests) // a training that has ended can be freed
}

// execute makes steps of all members.
func (p *groupRun) execute(r *request, steps int) error {
	if len(p.requests) == 1 {
		return r.t.executeAlone(steps, true)
	}
	if err := p.grow(); errors.Is(err, cuda.ErrMemory) {
		return p.executeEach(steps)
	} else if err != nil {
		return err
	}
	if err := p.fill(); err != nil {
		return err
	}
	if err := p.send(steps); err != nil {
		return err
	}
	for range steps {
		for i := range p.group.calls {
			c := &p.group.calls[i]
			queue := cuda.LaunchBytes
			if c.behind {
				queue = cuda.LaunchBehind
			}
			if err := queue(p.stream, c.kernel, c.side(len(p.requests)), c.threads, p.args[i]); err != nil {
				return err
			}
		}
	}
	if err := p.receive(); err != nil {
		return err
	}
	r.t.batch.prepare(r.t) // the others do so while they wait
	return p.stream.Sync()
}

// executeEach makes the steps of one member after the other.
func (p *groupRun) executeEach(steps int) error {
	for _, x := range p.requests {
		if err := x.t.executeAlone(steps, false); err != nil {
			return err
		}
	}
	return nil
}

// fill writes the arguments of all members.
func (p *groupRun) fill() error {
	at := 0
	for i := range p.group.calls {
		one := len(p.group.calls[i].args)
		for j, x := range p.requests {
			copy(p.host[at+j*one:], x.t.calls[i].args)
		}
		at += p.room * one
	}
	return cuda.Upload(p.stream, p.tables, p.host)
}

// grow makes room for the members, and for some more.
func (p *groupRun) grow() error {
	if p.room >= len(p.requests) {
		return nil
	}
	g := p.group
	p.release()
	m, err := newMemory(p.requests[0].t.device)
	if err != nil {
		return err
	}
	g.mu.Lock()
	p.memory, p.room = m, max(g.size(), len(p.requests))
	g.mu.Unlock()
	size := 0
	for i := range g.calls {
		size += p.room * len(g.calls[i].args)
	}
	p.tables, p.host = m.alloc(size, 1), pinned[byte](m, size)
	p.list, p.transfers = m.alloc(p.room, sizeStepTransfer), pinned[stepTransfer](m, p.room)
	size = 0
	for i := range g.calls {
		one := len(g.calls[i].args)
		args := make([]byte, one+8)
		binary.LittleEndian.PutUint64(args[one:], uint64(p.tables)+uint64(size))
		p.args = append(p.args, args)
		size += p.room * one
	}
	if m.err != nil {
		err := m.err
		p.release()
		return err
	}
	return nil
}
