package gpu

import (
	"encoding/binary"
	"errors"

	"utvi/internal/cuda"
)

// A party are members of a gang that make steps side by side, with the arguments of their
// kernels on the card.
type party struct {
	gang *gang
	runs []*request // under way

	*memory          // nil until two run
	room    int      // for so many
	args    [][]byte // of each call: they point to its table
	host    []byte   // pinned: the tables, one behind the other
	tables  cuda.Ptr
	parcels []parcel // pinned
	list    cuda.Ptr // the parcels
}

func (p *party) release() {
	if p.memory != nil {
		p.memory.release()
		*p = party{gang: p.gang, runs: p.runs}
	}
}

// run makes as many steps of all members as the one wants that wants fewest; r leads them.
func (p *party) run(r *request) {
	steps := r.steps
	for _, x := range p.runs {
		steps = min(steps, x.steps)
	}
	err := p.execute(r, steps)
	for _, x := range p.runs {
		x.steps, x.err = steps, err
		if x != r {
			x.turn <- nil
		}
	}
	clear(p.runs) // a training that has ended can be freed
}

// execute makes steps of all members.
func (p *party) execute(r *request, steps int) error {
	if len(p.runs) == 1 {
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
		for i := range p.gang.calls {
			c := &p.gang.calls[i]
			queue := cuda.LaunchBytes
			if c.behind {
				queue = cuda.LaunchBehind
			}
			if err := queue(p.stream, c.kernel, c.side(len(p.runs)), c.threads, p.args[i]); err != nil {
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
func (p *party) executeEach(steps int) error {
	for _, x := range p.runs {
		if err := x.t.executeAlone(steps, false); err != nil {
			return err
		}
	}
	return nil
}

// fill writes the arguments of all members.
func (p *party) fill() error {
	at := 0
	for i := range p.gang.calls {
		one := len(p.gang.calls[i].args)
		for j, x := range p.runs {
			copy(p.host[at+j*one:], x.t.calls[i].args)
		}
		at += p.room * one
	}
	return cuda.Upload(p.stream, p.tables, p.host)
}

// grow makes room for the members, and for some more.
func (p *party) grow() error {
	if p.room >= len(p.runs) {
		return nil
	}
	g := p.gang
	p.release()
	m, err := newMemory(p.runs[0].t.device)
	if err != nil {
		return err
	}
	g.mu.Lock()
	p.memory, p.room = m, max(g.size(), len(p.runs))
	g.mu.Unlock()
	size := 0
	for i := range g.calls {
		size += p.room * len(g.calls[i].args)
	}
	p.tables, p.host = m.alloc(size, 1), pinned[byte](m, size)
	p.list, p.parcels = m.alloc(p.room, sizeParcel), pinned[parcel](m, p.room)
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
