package gpu

import (
	"utvi/data"
	"utvi/gauss"
	"utvi/internal/cuda"
)

// An indexed source is a table that can stay on the card: a batch is the numbers of its
// rows.
type indexed interface {
	data.Source
	Set() data.Set
	Order(lo, hi int, rows []int32)
}

// A batch brings the rows of a step to the card.
type batch struct {
	in     signal
	y      cuda.Ptr
	table  indexed // nil: the host fills the batch
	gather op
	index  []int32 // pinned, with its place on the card
	at     cuda.Ptr

	slots int
	x     []gauss.Batch[float32] // pinned, one for each slot
	yHost [][]float32            // pinned, likewise
	slot  int                    // under way
	run   func(worker, task int)
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
	if table, ok := t.Data.(indexed); ok {
		b.table = table
		set := table.Set()
		b.at = w.alloc(rows, 4)
		b.gather = op{Kind: opInput, In: int32(inputs), Targets: int32(targets), OM: b.in.m, OV: b.in.v, YO: b.y, Index: b.at,
			TM: place(w.memory, set.X.Mean, 4), TY: place(w.memory, set.Y, 4)}
		if set.X.Var != nil {
			b.gather.TV = place(w.memory, set.X.Var, 4)
		}
		b.slots = slots
		b.index = pinned[int32](w.memory, b.slots*rows)
		return
	}
	b.slots = max(1, min(slots, mostPinned/(4*rows*(2*inputs+targets))))
	for range b.slots {
		x := gauss.Batch[float32]{Rows: rows, Width: inputs, Mean: pinned[float32](w.memory, rows*inputs)}
		if b.in.v != 0 {
			x.Var = pinned[float32](w.memory, rows*inputs)
		}
		b.x, b.yHost = append(b.x, x), append(b.yHost, pinned[float32](w.memory, rows*targets))
	}
	b.run = func(_, task int) {
		lo, hi := task*fillRows, min(rows, (task+1)*fillRows)
		t.Data.Fill(lo, hi, b.x[b.slot].Slice(lo, hi), b.yHost[b.slot][lo*targets:hi*targets])
	}
}

// fill brings the batch of a step, through the memory of a slot: the copies of earlier
// steps may be under way.
func (b *batch) fill(t *trainer, step, slot int) error {
	t.Data.Begin(t.dataKey, uint64(step), t.Batch)
	s := t.stream
	if b.table != nil {
		index := b.index[slot*t.Batch : (slot+1)*t.Batch]
		b.table.Order(0, t.Batch, index)
		return cuda.Upload(s, b.at, index)
	}
	b.slot = slot
	t.Pool.Run((t.Batch+fillRows-1)/fillRows, b.run)
	if err := cuda.Upload(s, b.in.m, b.x[slot].Mean); err != nil {
		return err
	}
	if err := cuda.Upload(s, b.in.v, b.x[slot].Var); err != nil {
		return err
	}
	return cuda.Upload(s, b.y, b.yHost[slot])
}
