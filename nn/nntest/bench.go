package nntest

import (
	"math"
	"slices"
	"testing"

	"utvi/gauss"
	"utvi/nn"
	"utvi/rng"
	"utvi/vi"
)

// A bench is a bound layer with its inputs.
type bench[T gauss.Float] struct {
	unit   nn.Unit[T]
	params *vi.Params[T]
	x, out gauss.Batch[T]
	gm, gv []T // the loss is Σ gm·mean + gv·variance
	dx     gauss.Batch[T]
	blocks []nn.Block[T]

	runners map[int]nn.Runner[T] // by the most rows of a block, used again and again
}

const rows = 7

func newBench[T gauss.Float](t testing.TB, s subject) *bench[T] {
	t.Helper()
	b := &bench[T]{runners: map[int]nn.Runner[T]{}}
	b.unit, b.params = bind[T](t, s, true)
	b.params.AllocGrads()
	b.params.Start(rng.New(11), vi.Init{RhoMin: -3, RhoMax: 0})
	b.x = inputs[T](s)
	width := b.unit.Out().Size()
	b.out, b.dx = gauss.New[T](rows, width), gauss.New[T](rows, s.in.Size())
	if s.det {
		b.dx.Var = nil
	}
	if b.unit.Form() == nn.Fixed {
		b.out.Var = nil
	}
	n, key := len(b.out.Mean), rng.New(7)
	b.gm, b.gv = make([]T, n), make([]T, n)
	for i := range b.gm {
		b.gm[i], b.gv[i] = T(rng.Normal(key, uint64(1000+2*i))), T(rng.Normal(key, uint64(1001+2*i)))
	}
	return b
}

// inputs returns the rows that every check uses.
func inputs[T gauss.Float](s subject) gauss.Batch[T] {
	x := gauss.New[T](rows, s.in.Size())
	key := rng.New(7)
	for i := range x.Mean {
		x.Mean[i] = T(s.Mean + s.Spread*rng.Normal(key, uint64(3*i)))
		x.Var[i] = T(s.Spread * s.Spread * (0.05 + rng.Uniform(key, uint64(3*i+1))))
	}
	if s.det {
		x.Var = nil
	}
	return x
}

// A call is what happens to a block of rows.
type call int

const (
	forward call = iota
	backward
	first // backward, without the gradient of the input
)

// run prepares the weights and runs the batch forward and, depending on do, backward,
// in blocks of at most size rows.
func (b *bench[T]) run(size int, do call) {
	b.soil(do)
	r := b.runners[size]
	if r == nil {
		r = b.unit.NewRunner(size, true)
		b.runners[size] = r
	}
	prepare(b.unit, r)
	for lo := 0; lo < rows; lo += size {
		p := b.pass(lo, min(rows, lo+size))
		r.Forward(p)
		if do != forward {
			b.back(r, p, do)
		}
	}
	if do != forward {
		b.gradient(r)
	}
}

// soil fills the results of a call with NaN: whatever a layer does not write, or adds
// to, stays NaN.
func (b *bench[T]) soil(do call) {
	dirty(b.out.Mean)
	dirty(b.out.Var)
	if do != forward {
		dirty(b.dx.Mean)
		dirty(b.dx.Var)
		dirty(b.params.Grad)
		b.blocks = b.blocks[:0]
	}
}

func dirty[T gauss.Float](s []T) {
	for i := range s {
		s[i] = T(math.NaN())
	}
}

// pass is rows [lo, hi) on their way forward.
func (b *bench[T]) pass(lo, hi int) *nn.Pass[T] {
	p := &nn.Pass[T]{Seed: rng.New(3), Step: 5, Row: uint64(lo), In: b.x.Slice(lo, hi), Out: b.out.Slice(lo, hi)}
	p.Tape = make([]T, (hi-lo)*b.unit.TapeWidth())
	dirty(p.Tape)
	return p
}

// back carries p backward, and keeps its block for gradient.
func (b *bench[T]) back(r nn.Runner[T], p *nn.Pass[T], do call) {
	b.backward(r, p, do)
	b.blocks = append(b.blocks, nn.Block[T]{Rows: p.In.Rows, Tape: p.Tape})
}

func (b *bench[T]) backward(r nn.Runner[T], p *nn.Pass[T], do call) {
	lo, w := int(p.Row), b.out.Width
	hi := lo + p.In.Rows
	p.DOut = gauss.Batch[T]{Rows: p.In.Rows, Width: w, Mean: slices.Clone(b.gm[lo*w : hi*w])}
	if b.out.Var != nil {
		p.DOut.Var = slices.Clone(b.gv[lo*w : hi*w])
	}
	if do == backward {
		p.DIn = b.dx.Slice(lo, hi)
	}
	r.Backward(p)
}

// gradient computes the parameter gradients of the blocks kept.
func (b *bench[T]) gradient(r nn.Runner[T]) {
	for i := range b.unit.GradTiles() {
		r.Gradient(i, b.blocks)
	}
}
