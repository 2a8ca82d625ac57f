package model

import (
	"utvi/gauss"
	"utvi/internal/compute"
	"utvi/nn"
	"utvi/rng"
)

// A Predictor carries rows through a network. It owns its scratch, so it belongs
// to one goroutine; any number of predictors share a network.
type Predictor[T gauss.Float] struct {
	net   *Net[T]
	pool  *compute.Pool
	rows  int // most rows of a call
	block int
	lanes []lane[T] // one per worker
	out   gauss.Batch[T]

	in   gauss.Batch[T] // of the call under way
	rest gauss.Batch[T]
	run  func(worker, task int)

	budget *budget[T] // made by the first PredictBudget
}

type lane[T gauss.Float] struct {
	runner nn.Runner[T]
	pass   nn.Pass[T]
}

// NewPredictor returns a predictor for batches of at most maxBatch rows.
func (n *Net[T]) NewPredictor(maxBatch int) *Predictor[T] {
	return n.NewPredictorOn(compute.NewPool(1), maxBatch)
}

// NewPredictorOn returns a predictor that shares its work among a pool.
func (n *Net[T]) NewPredictorOn(pool *compute.Pool, maxBatch int) *Predictor[T] {
	if maxBatch < 1 {
		panic("model: a predictor needs room for at least one row")
	}
	p := &Predictor[T]{net: n, pool: pool, rows: maxBatch}
	p.out = gauss.New[T](maxBatch, n.Outputs())
	p.lanes = make([]lane[T], pool.Workers())
	for i := range p.lanes {
		p.lanes[i].runner = n.unit.NewRunner(min(maxBatch, maxBlock), false)
	}
	p.run = p.predictBlock
	return p
}

// maxBlock is the most rows of a block: its activations stay in the second-level
// cache, and its packed operands in the first.
const maxBlock = 96

// BlockRows is how many rows a block of a batch has: a multiple of the product's
// tile, an even number of blocks, whatever the number of workers.
func BlockRows(batch int) int {
	if batch <= 4*compute.MR {
		return batch
	}
	blocks := (batch + 2*maxBlock - 1) / (2 * maxBlock) * 2
	size := (batch + blocks - 1) / blocks
	return (size + compute.MR - 1) / compute.MR * compute.MR
}

// Predict returns the moments of the outputs for the rows of x. The result is
// valid until the next call. Rows that hold a NaN, or a number whose square
// overflows, give NaN; the others are none the worse for it.
func (p *Predictor[T]) Predict(x gauss.Batch[T]) gauss.Batch[T] {
	if x.Width != p.net.Inputs() {
		panic("model: the rows have another width than the network's input")
	}
	if x.Rows > p.rows {
		panic("model: more rows than the predictor has room for")
	}
	if size := x.Rows * x.Width; len(x.Mean) < size || x.Var != nil && len(x.Var) < size {
		panic("model: the batch holds fewer numbers than its rows need")
	}
	for _, v := range x.Var {
		if v < 0 {
			panic("model: an input variance is negative")
		}
	}
	out := p.out.Slice(0, x.Rows)
	if x.Rows == 0 {
		return out
	}
	p.net.prepare()
	p.in, p.rest = x, out
	if x.Var == nil && !p.net.unit.Random() {
		p.rest.Var = nil
		clear(out.Var)
	}
	p.block = BlockRows(x.Rows)
	p.pool.Run((x.Rows+p.block-1)/p.block, p.run)
	return out
}

func (p *Predictor[T]) predictBlock(worker, task int) {
	l := &p.lanes[worker]
	lo := task * p.block
	hi := min(p.in.Rows, lo+p.block)
	l.pass.Seed, l.pass.Step, l.pass.Row = rng.New(p.net.Config.Seed), 0, uint64(lo)
	l.pass.In, l.pass.Out = p.in.Slice(lo, hi), p.rest.Slice(lo, hi)
	l.runner.Forward(&l.pass)
}
