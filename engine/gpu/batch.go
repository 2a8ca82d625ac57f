package gpu

import (
	"utvi/data"
	"utvi/gauss"
	"utvi/internal/cuda"
	"utvi/internal/localization"
)

// An indexed source is a table that can stay on the card: a batch is the numbers of its
// rows.
type indexed interface {
	data.Source
	Set() data.Set
	Order(lo, hi int, rows []int32)
}

// A batch brings the rows of steps to the card: their numbers in a table, or the rows
// themselves, which the host fills or the card draws. Each step that is queued has a slot.
type batch struct {
	in     signal
	y      cuda.Ptr
	gather op
	slots  int

	table indexed // nil: the batch is filled or drawn
	index []int32 // pinned
	ahead []int32 // pinned: the rows of later steps, from step later on; 0: none
	later int

	draws *emittersArgs // nil: the host fills the batch

	x    gauss.Batch[float32] // pinned, one slot behind the other
	rows []float32            // pinned: the targets
	slot int                  // under way
	run  func(worker, task int)

	first, filled int // the step of slot 0, and the number of slots that are filled
}

// mostPinned bounds the batches that the host fills ahead.
const mostPinned = 32 << 20

// fillRows is how many rows a worker of the host fills at a time.
const fillRows = 64

// place allocates the memory of a batch. Errors are kept in the trainer's memory.
func (b *batch) place(t *trainer) {
	w, rows := t.weights, t.Batch
	inputs, targets := t.plan.inputs, t.Data.Targets()
	b.in = w.signal(rows, inputs, t.Data.Uncertain())
	b.y = w.floats(rows * targets)
	b.gather = op{Kind: opInput, In: int32(inputs), Count: int32(targets), Room: int32(rows), OM: b.in.m, OV: b.in.v, YO: b.y}
	if table, ok := t.Data.(indexed); ok {
		b.table = table
		set := table.Set()
		b.slots = slots
		b.gather.Index = w.alloc(b.slots*rows, 4)
		variances := cuda.Ptr(0)
		if set.X.Var != nil {
			variances = place(w.memory, set.X.Var, 4)
		}
		b.gather.gatherFrom(place(w.memory, set.X.Mean, 4), variances, place(w.memory, set.Y, 4))
		b.index, b.ahead = pinned[int32](w.memory, b.slots*rows), pinned[int32](w.memory, b.slots*rows)
		return
	}
	b.slots = max(1, min(slots, mostPinned/(4*rows*(2*inputs+targets))))
	n := b.slots * rows
	s := w.signal(n, inputs, b.in.v != 0)
	y := w.floats(n * targets)
	b.gather.gatherFrom(s.m, s.v, y)
	b.draws = drawn(t.Data)
	if b.draws != nil {
		b.draws.X = s.m
		b.draws.Y = y
		b.draws.Key = t.dataKey
		return
	}
	b.x = gauss.Batch[float32]{Rows: n, Width: inputs, Mean: pinned[float32](w.memory, n*inputs)}
	if s.v != 0 {
		b.x.Var = pinned[float32](w.memory, n*inputs)
	}
	b.rows = pinned[float32](w.memory, n*targets)
	b.run = func(_, task int) {
		lo, hi := task*fillRows, min(rows, (task+1)*fillRows)
		first := b.slot * rows
		t.Data.Fill(lo, hi, b.x.Slice(first+lo, first+hi), b.rows[(first+lo)*targets:(first+hi)*targets])
	}
}

// drawn describes rows that the card draws itself; nil: it cannot.
func drawn(s data.Source) *emittersArgs {
	g, ok := s.(*data.Generator)
	if !ok {
		return nil
	}
	e, ok := g.Recipe.(localization.Emitters)
	if !ok || e.Side > mostSide || e.Side%2 != 0 || e.Photons < leastPhotons || g.In != e.Side*e.Side || g.Out != 3 {
		return nil
	}
	return &emittersArgs{Side: int32(e.Side), Spread: float32(e.Spread), Blur: float32(e.Blur), Photons: e.Photons, Sigma: e.Blur}
}

// The kernel draws images of so many pixels a side at most, and so many photons at least.
const mostSide, leastPhotons = 16, 10

// emitterRows is how many rows a block of that kernel draws.
const emitterRows = 8

// fill prepares the rows of a step in the memory of a slot.
func (b *batch) fill(t *trainer, step, slot int) {
	if b.draws != nil { // steps follow one another
		if slot == 0 {
			b.draws.First = uint64(step-1) * uint64(t.Batch)
		}
		return
	}
	if slot < b.filled && b.first+slot == step {
		return
	}
	if slot == 0 && step == b.later { // prepare was right
		b.index, b.ahead = b.ahead, b.index
		b.first = step
		b.filled = b.slots
		b.later = 0
		return
	}
	b.filled = slot + 1
	if slot == 0 {
		b.first = step
	}
	if b.table != nil {
		b.order(t, step, b.index[slot*t.Batch:])
		return
	}
	t.Data.Begin(t.dataKey, uint64(step), t.Batch)
	b.slot = slot
	t.Pool.Run((t.Batch+fillRows-1)/fillRows, b.run)
}

// order writes the numbers of a step's rows.
func (b *batch) order(t *trainer, step int, rows []int32) {
	b.table.Begin(t.dataKey, uint64(step), t.Batch)
	b.table.Order(0, t.Batch, rows[:t.Batch])
}

// prepare orders the rows of the steps that will follow those in the slots, if as many do:
// the card makes those in the slots meanwhile.
func (b *batch) prepare(t *trainer) {
	step := b.first + b.filled
	if b.table == nil || b.filled < b.slots || b.later == step {
		return
	}
	b.later = step
	for i := range b.slots {
		b.order(t, step+i, b.ahead[i*t.Batch:])
	}
}

// made keeps the slots behind steps that are made for the steps that follow: trainings
// side by side make as many steps as the one that wants fewest.
func (b *batch) made(steps int) {
	left := b.filled - steps
	b.first, b.filled = b.first+steps, max(0, left)
	if left <= 0 {
		return
	}
	from, to := steps*int(b.gather.Room), (steps+left)*int(b.gather.Room)
	if b.table != nil {
		copy(b.index, b.index[from:to])
		return
	}
	w, targets := b.x.Width, int(b.gather.Count)
	copy(b.x.Mean, b.x.Mean[from*w:to*w])
	if b.x.Var != nil {
		copy(b.x.Var, b.x.Var[from*w:to*w])
	}
	copy(b.rows, b.rows[from*targets:to*targets])
}

// send brings the rows of the first slots to the card.
func (b *batch) send(k *kernelSet, s *cuda.Stream, slots int) error {
	n := slots * int(b.gather.Room)
	if b.draws != nil {
		b.draws.Rows = int32(n)
		return cuda.Launch(s, k.emitters, cuda.Grid{X: tiles(n, emitterRows)}, 32*emitterRows, b.draws)
	}
	if b.table != nil {
		return cuda.Upload(s, b.gather.Index, b.index[:n])
	}
	mean, variance, targets := b.gather.gatheredFrom()
	if err := cuda.Upload(s, mean, b.x.Mean[:n*b.x.Width]); err != nil {
		return err
	}
	if b.x.Var != nil {
		if err := cuda.Upload(s, variance, b.x.Var[:n*b.x.Width]); err != nil {
			return err
		}
	}
	return cuda.Upload(s, targets, b.rows[:n*int(b.gather.Count)])
}
