package expr

import (
	"math"
	"slices"

	"utvi/internal/compute/bytecode"
)

// An assembler gives every place a slot: x, parameters and constants theirs, outputs their own,
// and temporaries the slot of one that is no longer needed.
type assembler struct {
	*compiler
	prog   *bytecode.Program
	slot   []int // by place, −1: none yet
	last   []int // by place: the last instruction that reads it
	first  int   // slot of the outputs
	copies []bytecode.Instr
	free   []int // slots of temporaries
}

// assemble makes the program of the code.
func (c *compiler) assemble(outs []*Expr) *bytecode.Program {
	a := &assembler{compiler: c, prog: &bytecode.Program{Params: len(c.params), Consts: c.order, Outs: len(outs)}}
	a.placeInputs()
	a.placeOutputs(outs)
	a.findLast()
	for k, d := range c.code {
		a.emit(k, d)
	}
	a.prog.Code = append(a.prog.Code, a.copies...)
	return a.prog
}

// placeInputs gives x, parameters and constants their slots.
func (a *assembler) placeInputs() {
	a.slot = make([]int, a.places)
	for i := range a.slot {
		a.slot[i] = -1
	}
	for e, at := range a.place {
		switch e.op {
		case X:
			a.slot[at] = 0
		case Parameter:
			a.slot[at] = 1 + slices.Index(a.params, e.name)
		}
	}
	for i, v := range a.order {
		a.slot[a.consts[math.Float64bits(v)]] = 1 + len(a.params) + i
	}
}

// placeOutputs gives outputs their slots; one that is x, a parameter, a constant or another output
// already is copied at the end.
func (a *assembler) placeOutputs(outs []*Expr) {
	a.first = a.prog.First()
	a.prog.Slots = a.first + len(outs)
	for i, e := range outs {
		at := a.place[e]
		if a.slot[at] >= 0 {
			a.copies = append(a.copies, bytecode.Instr{Code: bytecode.CodeCopy, X: uint16(a.slot[at]), Dst: uint16(a.first + i)})
			continue
		}
		a.slot[at] = a.first + i
	}
}

func (a *assembler) findLast() {
	a.last = make([]int, a.places)
	for k, d := range a.code {
		for _, at := range d.in {
			a.last[at] = k
		}
	}
}

// temporary reports whether a place has a slot that others may take.
func (a *assembler) temporary(at int) bool { return a.slot[at] >= a.first+a.prog.Outs }

// take gives a place a slot, one that is free if there is one.
func (a *assembler) take(at int) {
	if a.slot[at] >= 0 {
		return
	}
	if n := len(a.free); n > 0 {
		a.slot[at] = a.free[n-1]
		a.free = a.free[:n-1]
		return
	}
	a.slot[at] = a.prog.Slots
	a.prog.Slots++
}

// emit writes the k-th instruction. Slots that it reads last are free for what it writes.
func (a *assembler) emit(k int, d draft) {
	for i, at := range d.in {
		if a.last[at] == k && a.temporary(at) && !slices.Contains(d.in[:i], at) {
			a.free = append(a.free, a.slot[at])
		}
	}
	a.take(d.out)
	in := bytecode.Instr{Code: d.code, Fn: d.fn, Dst: uint16(a.slot[d.out])}
	if d.slope >= 0 {
		a.take(d.slope)
		in.Slope = uint16(a.slot[d.slope])
	}
	for i, at := range d.in {
		*[]*uint16{&in.X, &in.Y, &in.Z}[i] = uint16(a.slot[at])
	}
	a.prog.Code = append(a.prog.Code, in)
	for _, at := range []int{d.out, d.slope} { // never read: a by-product of a kernel
		if at >= 0 && a.last[at] <= k && a.temporary(at) {
			a.free = append(a.free, a.slot[at])
		}
	}
}
