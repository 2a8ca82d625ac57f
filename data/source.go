// Package data provides batches for training, from tables and generators. A batch is a
// pure function of a key and a step, so a run can continue at any step.
package data

import (
	"fmt"

	"utvi/gauss"
	"utvi/rng"
)

// A Source fills batches. It keeps the state of the current batch, so it serves one
// trainer at a time: trainers that run side by side need one Source each.
type Source interface {
	// Rows is the number of rows in an epoch: the N that divides the KL.
	Rows() int
	// Inputs and Targets are the widths of a row.
	Inputs() int
	Targets() int
	// Uncertain reports whether the inputs have variances.
	Uncertain() bool
	// Begin prepares the batch of a step. Steps count from 1.
	Begin(key rng.Key, step uint64, batch int)
	// Fill writes rows [lo, hi) of that batch to x and y, whose first row is lo.
	// Disjoint ranges may be filled concurrently.
	Fill(lo, hi int, x gauss.Batch[float32], y []float32)
}

// A Generator makes new rows on the fly: no row is seen twice.
type Generator struct {
	N        int // rows that count as an epoch
	In, Out  int
	Generate func(key rng.Key, row uint64, x, y []float32) // a pure function of key and row

	// Recipe describes Generate to an engine that knows it and can draw such rows in its own
	// memory; nil: it cannot be described.
	Recipe any

	key   rng.Key
	first uint64
}

// Rows is N: rows never repeat, so an epoch is what the caller says it is.
func (g *Generator) Rows() int { return g.N }

// Inputs is the width of x.
func (g *Generator) Inputs() int { return g.In }

// Targets is the width of y.
func (g *Generator) Targets() int { return g.Out }

// Uncertain is false: generated inputs are numbers.
func (g *Generator) Uncertain() bool { return false }

// Begin makes the rows of a step those that follow the rows of all steps before.
func (g *Generator) Begin(key rng.Key, step uint64, batch int) {
	if g.Generate == nil {
		panic("data: the generator has no function Generate")
	}
	g.key, g.first = key, (step-1)*uint64(batch)
}

// Fill generates rows [lo, hi) of the batch.
func (g *Generator) Fill(lo, hi int, x gauss.Batch[float32], y []float32) {
	for i := range hi - lo {
		g.Generate(g.key, g.first+uint64(lo+i), x.Mean[i*g.In:(i+1)*g.In], y[i*g.Out:(i+1)*g.Out])
	}
}

// A Table is a finite set of rows. Every epoch visits each row once, in an order
// drawn from the key.
type Table struct {
	x       gauss.Batch[float32]
	y       []float32
	targets int

	key   rng.Key
	epoch [2]uint64 // the epochs whose order is in perm
	perm  [2][]int32
	first uint64
	keyed bool
}

// NewTable returns a table of inputs x, with or without variances, and targets y
// (row-major, targets numbers in each row). The table keeps both slices: the caller
// must not change them.
func NewTable(x gauss.Batch[float32], targets int, y []float32) (*Table, error) {
	if targets < 1 {
		return nil, fmt.Errorf("table: a row has %d targets; at least 1 is needed", targets)
	}
	if err := (Set{X: x, Y: y, Targets: targets}).Check(); err != nil {
		return nil, fmt.Errorf("table: %w", err)
	}
	t := &Table{x: x, y: y, targets: targets}
	for i := range t.perm {
		t.perm[i] = make([]int32, x.Rows)
	}
	return t, nil
}

// Rows is the number of rows of the table.
func (t *Table) Rows() int { return t.x.Rows }

// Inputs is the number of inputs of a row.
func (t *Table) Inputs() int { return t.x.Width }

// Targets is the number of targets of a row.
func (t *Table) Targets() int { return t.targets }

// Uncertain reports whether the table was made of inputs with variances.
func (t *Table) Uncertain() bool { return t.x.Var != nil }

// Begin takes the next batch rows of the endless sequence of epochs. A batch may not
// have more rows than the table.
func (t *Table) Begin(key rng.Key, step uint64, batch int) {
	if batch > t.x.Rows {
		panic("data: the batch has more rows than the table") // only two orders are kept
	}
	t.first = (step - 1) * uint64(batch)
	if !t.keyed || t.key != key {
		t.key, t.keyed = key, true
		t.epoch = [2]uint64{^uint64(0), ^uint64(0)}
	}
	n := uint64(t.x.Rows)
	for e := t.first / n; e <= (t.first+uint64(batch)-1)/n; e++ {
		if slot := e % 2; t.epoch[slot] != e {
			rng.Perm(key.Sub(e, 0), t.perm[slot])
			t.epoch[slot] = e
		}
	}
}

// Set returns all rows of the table, in the order in which they were given.
func (t *Table) Set() Set { return Set{X: t.x, Y: t.y, Targets: t.targets} }

// Order writes the numbers of rows [lo, hi) of the batch that Begin prepared.
func (t *Table) Order(lo, hi int, rows []int32) {
	n := uint64(t.x.Rows)
	for at := t.first + uint64(lo); lo < hi; {
		k := copy(rows[:hi-lo], t.perm[at/n%2][at%n:])
		rows = rows[k:]
		lo = lo + k
		at = at + uint64(k)
	}
}

// Fill copies rows [lo, hi) of the batch, in the order that Begin drew.
func (t *Table) Fill(lo, hi int, x gauss.Batch[float32], y []float32) {
	n := uint64(t.x.Rows)
	for i := range hi - lo {
		at := t.first + uint64(lo+i)
		row := int(t.perm[at/n%2][at%n])
		w := t.x.Width
		copy(x.Mean[i*w:(i+1)*w], t.x.Mean[row*w:])
		if x.Var != nil {
			copy(x.Var[i*w:(i+1)*w], t.x.Var[row*w:])
		}
		copy(y[i*t.targets:(i+1)*t.targets], t.y[row*t.targets:])
	}
}
