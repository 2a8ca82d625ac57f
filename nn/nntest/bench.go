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
	gm, gv []T // the loss is Σ gm·mean + gv·variance + gc·covariance
	gc     []T // of two different units, symmetric; the diagonal does not count
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
	b.out, b.dx = results[T](b.unit.Out(), b.unit.Form()), results[T](s.in, s.form)
	n, key := len(b.out.Mean), rng.New(7)
	b.gm, b.gv = make([]T, n), make([]T, n)
	for i := range b.gm {
		b.gm[i], b.gv[i] = T(rng.Normal(key, uint64(1000+2*i))), T(rng.Normal(key, uint64(1001+2*i)))
	}
	if b.out.Cov != nil {
		w := b.out.Width
		b.gc = make([]T, len(b.out.Cov))
		for at := range b.gc {
			i, j := max(at/w%w, at%w), min(at/w%w, at%w)
			b.gc[at] = T(rng.Normal(key.Sub(uint64(at/(w*w)), 1), uint64(i*w+j)))
		}
	}
	return b
}

// results is room for rows of a form.
func results[T gauss.Float](s nn.Shape, form nn.Form) gauss.Batch[T] {
	b := gauss.New[T](rows, s.Size())
	switch form {
	case nn.Fixed:
		b.Var = nil
	case nn.Covariant:
		b.Cov = make([]T, len(b.Mean)*b.Width)
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
	switch s.form {
	case nn.Fixed:
		x.Var = nil
	case nn.Covariant:
		x.Cov = make([]T, len(x.Mean)*x.Width)
		correlate(x)
	}
	return x
}

// loading is what unit i has of a factor that all units of a row share: correlations
// are products of loadings, of both signs.
func loading(i int) float64 { return 0.8 * math.Cos(float64(i)) }

// correlate writes covariances that fit the variances.
func correlate[T gauss.Float](x gauss.Batch[T]) {
	w := x.Width
	for at := range x.Cov {
		row := at / (w * w) * w
		i := at / w % w
		j := at % w
		x.Cov[at] = x.Var[row+i]
		if i != j {
			x.Cov[at] = T(loading(i) * loading(j) * math.Sqrt(float64(x.Var[row+i])*float64(x.Var[row+j])))
		}
	}
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
	dirty(b.out.Cov)
	if do != forward {
		dirty(b.dx.Mean)
		dirty(b.dx.Var)
		dirty(b.dx.Cov)
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
	lo := int(p.Row)
	hi := lo + p.In.Rows
	g := gauss.Batch[T]{Rows: rows, Width: b.out.Width, Mean: b.gm, Cov: b.gc}
	if b.out.Var != nil {
		g.Var = b.gv
	}
	g = g.Slice(lo, hi)
	p.DOut = gauss.Batch[T]{Rows: g.Rows, Width: g.Width, Mean: slices.Clone(g.Mean), Var: slices.Clone(g.Var), Cov: slices.Clone(g.Cov)}
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
