package expr

import (
	"math"
	"slices"

	"utvi/internal/compute/bytecode"
)

// assemble gives every place a slot: outputs their own, and temporaries the slot
// of one that is no longer needed.
func (c *compiler) assemble(outs []*Expr) *bytecode.Program {
	p := &bytecode.Program{Params: len(c.params), Outs: len(outs)}
	slot := make([]int, c.places)
	for i := range slot {
		slot[i] = -1
	}
	for e, at := range c.place {
		switch e.op {
		case X:
			slot[at] = 0
		case Parameter:
			for i, name := range c.params {
				if name == e.name {
					slot[at] = 1 + i
				}
			}
		}
	}
	for i, v := range c.order {
		slot[c.consts[math.Float64bits(v)]] = 1 + p.Params + i
	}
	p.Consts = c.order
	first := p.First()
	var copies []draft
	for i, e := range outs {
		at := c.place[e]
		if slot[at] >= 0 { // x, a parameter, a constant or an output already
			copies = append(copies, draft{bytecode.CodeCopy, 0, []int{at}, first + i, -1})
			continue
		}
		slot[at] = first + i
	}

	last := make([]int, c.places)
	for k, d := range c.code {
		for _, at := range d.in {
			last[at] = k
		}
	}
	p.Slots = first + p.Outs
	var free []int
	take := func(at int) {
		if slot[at] >= 0 {
			return
		}
		if n := len(free); n > 0 {
			slot[at], free = free[n-1], free[:n-1]
			return
		}
		slot[at] = p.Slots
		p.Slots++
	}
	for k, d := range c.code {
		for i, at := range d.in {
			if last[at] == k && slot[at] >= first+p.Outs && !slices.Contains(d.in[:i], at) {
				free = append(free, slot[at])
			}
		}
		take(d.out)
		in := bytecode.Instr{Code: d.code, Fn: d.fn, Dst: uint16(slot[d.out])}
		if d.slope >= 0 {
			take(d.slope)
			in.Slope = uint16(slot[d.slope])
		}
		for i, at := range d.in {
			*[]*uint16{&in.X, &in.Y, &in.Z}[i] = uint16(slot[at])
		}
		p.Code = append(p.Code, in)
		for _, at := range []int{d.out, d.slope} { // never read: a by-product of a kernel
			if at >= 0 && last[at] <= k && slot[at] >= first+p.Outs {
				free = append(free, slot[at])
			}
		}
	}
	for _, d := range copies {
		p.Code = append(p.Code, bytecode.Instr{Code: bytecode.CodeCopy, X: uint16(slot[d.in[0]]), Dst: uint16(d.out)})
	}
	return p
}
